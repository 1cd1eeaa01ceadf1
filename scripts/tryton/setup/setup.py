# Fills a new Tryton database. Copyright (C) the authors of vetledger; licensed under the GPL-3.0-or-later, see LICENSE.
"""Reads a description of a company as JSON from standard input and creates it in a Tryton database whose modules are activated.

    python setup.py TRYTOND.CONF DATABASE < company.json
"""
import json
import sys
from datetime import date
from decimal import Decimal

from dateutil.relativedelta import relativedelta
from proteus import Model, Wizard, config


def main(configuration_file, database):
    company = json.load(sys.stdin)
    context = config.set_trytond(database, config_file=configuration_file)
    finish_module_wizards()
    company_id = create_company(company, context)
    accounts = create_accounts(company['accounts'])
    create_taxes(company['taxes'], accounts)
    create_tax_report(company['taxes'])
    create_fiscal_years(company['years'], company_id)
    create_journals(company['journals'])
    create_dimensions(company['dimensions'])
    create_parties(company['parties'])
    create_users(company['users'], company_id)


def finish_module_wizards():
    """Otherwise a person who logs in is asked to set up what this script sets up."""
    Item = Model.get('ir.module.config_wizard.item')
    items = Item.find([('state', '!=', 'done')])
    for item in items:
        item.state = 'done'
    Item.save(items)


def create_company(company, context):
    Currency = Model.get('currency.currency')
    Party = Model.get('party.party')
    User = Model.get('res.user')
    currency = Currency(name=company['currency'], code=company['currency'], symbol=company['currency'])
    currency.digits = company['decimals']
    currency.rounding = Decimal(1).scaleb(-company['decimals'])
    currency.rates.new(date=date(2000, 1, 1), rate=Decimal(1))
    currency.save()
    party = Party(name=company['name'])
    party.save()
    wizard = Wizard('company.company.config')
    wizard.execute('company')
    wizard.form.party = party
    wizard.form.currency = currency
    wizard.execute('add')
    context._context = User.get_preferences(True, {})
    Company = Model.get('company.company')
    (created,) = Company.find([])
    return created.id


# A kind of account: statement, and the flags of its type.
KINDS = {
    'asset': ('balance', {'assets': True}),
    'receivable': ('balance', {'assets': True, 'receivable': True}),
    'liability': ('balance', {}),
    'payable': ('balance', {'payable': True}),
    'equity': ('balance', {}),
    'revenue': ('income', {'revenue': True}),
    'expense': ('income', {'expense': True}),
}


def create_accounts(accounts):
    Type = Model.get('account.account.type')
    Account = Model.get('account.account')
    parents = {}
    for statement, name in [('balance', 'Balance sheet'), ('income', 'Income statement')]:
        parents[statement] = Type(name=name, statement=statement)
        parents[statement].save()
    types = {}
    for kind, (statement, flags) in KINDS.items():
        types[kind] = Type(name=kind.capitalize(), parent=parents[statement], statement=statement)
        for flag, value in flags.items():
            setattr(types[kind], flag, value)
        types[kind].save()
    by_code = {}
    for described in accounts:
        account = Account(code=described['code'], name=described['name'], type=types[described['kind']])
        account.reconcile = described['reconcile']
        account.party_required = described['party']
        by_code[described['code']] = account
    Account.save(list(by_code.values()))
    return {account.code: account for account in Account.find([])}


def create_taxes(taxes, accounts):
    Tax = Model.get('account.tax')
    for described in taxes:
        tax = Tax(name=described['name'], description=described['name'], type='percentage')
        tax.rate = Decimal(described['rate']) / 100
        tax.invoice_account = tax.credit_note_account = accounts[described['account']]
        tax.save()


def create_tax_report(taxes):
    """One tax code for the base and one for the tax of each tax: sales count positive, refunds negative."""
    Code = Model.get('account.tax.code')
    Tax = Model.get('account.tax')
    for amount, title in [('base', 'Base'), ('tax', 'Tax')]:
        parent = Code(name=title, code=title)
        parent.save()
        for described in taxes:
            (tax,) = Tax.find([('name', '=', described['name'])])
            code = Code(name=described['name'], code=f"{title} {described['name']}", parent=parent)
            code.lines.new(operator='+', tax=tax, amount=amount, type='invoice')
            code.lines.new(operator='-', tax=tax, amount=amount, type='credit')
            code.save()


def create_fiscal_years(years, company_id):
    FiscalYear = Model.get('account.fiscalyear')
    Company = Model.get('company.company')
    Sequence = Model.get('ir.sequence.strict')
    SequenceType = Model.get('ir.sequence.type')
    company = Company(company_id)
    (move_type,) = SequenceType.find([('name', '=', 'Account Move')], limit=1)
    (invoice_type,) = SequenceType.find([('name', '=', 'Invoice')], limit=1)

    def sequence(year, kind):
        created = Sequence(name=str(year), sequence_type=kind, company=company, prefix=f'{year}/', padding=6)
        created.save()
        return created

    for year in years:
        start = date(year, 1, 1)
        fiscal_year = FiscalYear(name=str(year), company=company)
        fiscal_year.start_date, fiscal_year.end_date = start, start + relativedelta(years=1, days=-1)
        fiscal_year.move_sequence = sequence(year, move_type)
        (sequences,) = fiscal_year.invoice_sequences
        sequences.out_invoice_sequence = sequences.in_invoice_sequence = sequence(year, invoice_type)
        sequences.out_credit_note_sequence = sequences.out_invoice_sequence
        sequences.in_credit_note_sequence = sequences.out_invoice_sequence
        fiscal_year.save()
        fiscal_year.click('create_period')


def create_journals(journals):
    Journal = Model.get('account.journal')
    for described in journals:
        Journal(code=described['code'], name=described['name'], type='general').save()


def create_dimensions(dimensions):
    Account = Model.get('analytic_account.account')
    for described in dimensions:
        root = Account(name=described['name'], code=described['code'], type='root', state='opened')
        root.save()
        for value in described['values']:
            account = Account(name=value['name'], code=value['code'], type='normal', state='opened')
            account.root = account.parent = root
            account.save()


def create_parties(parties):
    Party = Model.get('party.party')
    for described in parties:
        Party(name=described['name'], code=described['code']).save()


def create_users(users, company_id):
    User = Model.get('res.user')
    Group = Model.get('res.group')
    Company = Model.get('company.company')
    for described in users:
        # A record of proteus belongs to one list.
        company = Company(company_id)
        user = User(login=described['login'], name=described['name'], password=described['password'])
        for name in described['groups']:
            (group,) = Group.find([('name', '=', name)])
            user.groups.append(group)
        user.companies.append(company)
        user.company = Company(company_id)
        user.save()


main(*sys.argv[1:])
