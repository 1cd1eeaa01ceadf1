// Reads the books of a company in Odoo like its accountant, without the target's code.

import { Money } from '../../src/domain/money.ts';
import type { Domain, OdooPerson } from './odoo.ts';
import { accountsOf, idIn } from './odoo-company.ts';

export interface OdooMove {
  id: number;
  ref: string;
  name: string;
  state: string;
  date: string;
  journal: string;
  /** The move's external ids, each as `module.name`. */
  externalIds: string[];
  lines: OdooLine[];
}

export interface OdooLine {
  id: number;
  account: string;
  /** Debits are positive. */
  amount: Money;
  text: string;
  /** The internal reference of the contact. */
  partner: string | null;
  dueDate: string | null;
  tags: string[];
  /** The tax whose amount the line has. */
  tax: string | null;
  taxBase: Money;
  /** Codes of analytic accounts with their shares in percent. */
  analytic: Record<string, number>;
  isReconciled: boolean;
  /** The id of the line's full reconciliation. */
  match: number | null;
  /** The open amount. */
  residual: Money;
  externalIds: string[];
}

type Named = [id: number, name: string] | false;

const money = (value: number) => new Money(String(value));
const idOf = (value: Named) => (value === false ? null : value[0]);

/** The moves of the person's company, including drafts, in order of id. */
export async function readMoves(person: OdooPerson, where: Domain = []): Promise<OdooMove[]> {
  const moves = await person.read<{
    ref: string | false;
    name: string;
    state: string;
    date: string;
    journal_id: Named;
  }>('account.move', [['company_id', '=', person.company], ...where], ['ref', 'name', 'state', 'date', 'journal_id']);
  const journals = await namesOf(person, 'account.journal', 'code', [['company_id', '=', person.company]]);
  const moveIds = moves.map(({ id }) => id);
  const lines = await readLines(person, moveIds);
  const externalIds = await externalIdsOf(person, 'account.move', moveIds);
  return moves.map(({ id, ref, name, state, date, journal_id: journal }) => ({
    ...{ id, name, state, date, ref: ref || '', journal: journals.get(idOf(journal)!)! },
    ...{ externalIds: externalIds.get(id) ?? [], lines: lines.get(id) ?? [] },
  }));
}

async function readLines(person: OdooPerson, moves: number[]): Promise<Map<number, OdooLine[]>> {
  const lines = await person.read<{
    move_id: Named;
    account_id: Named;
    partner_id: Named;
    balance: number;
    name: string | false;
    date_maturity: string | false;
    tax_tag_ids: number[];
    tax_line_id: Named;
    tax_base_amount: number;
    analytic_distribution: Record<string, number> | false;
    reconciled: boolean;
    full_reconcile_id: Named;
    amount_residual: number;
  }>(
    'account.move.line',
    [['move_id', 'in', moves]],
    [
      ...['move_id', 'account_id', 'partner_id', 'balance', 'name', 'date_maturity', 'tax_tag_ids', 'tax_line_id'],
      ...['tax_base_amount', 'analytic_distribution', 'reconciled', 'full_reconcile_id', 'amount_residual'],
    ],
  );
  const accounts = new Map([...(await accountsOf(person))].map(([code, id]) => [id, code]));
  const partners = await namesOf(person, 'res.partner', 'ref', [
    ['id', 'in', known(lines.map((one) => idOf(one.partner_id)))],
  ]);
  const tags = await namesOf(person, 'account.account.tag', 'name', [
    ['id', 'in', lines.flatMap((one) => one.tax_tag_ids)],
  ]);
  const taxes = await namesOf(person, 'account.tax', 'name', [
    ['id', 'in', known(lines.map((one) => idOf(one.tax_line_id)))],
  ]);
  const values = await namesOf(person, 'account.analytic.account', 'code', []);
  const externalIds = await externalIdsOf(
    person,
    'account.move.line',
    lines.map(({ id }) => id),
  );
  const byMove = Map.groupBy(lines, (line) => idOf(line.move_id)!);
  const told = (line: (typeof lines)[number]): OdooLine => ({
    ...{ id: line.id, account: accounts.get(idOf(line.account_id)!) ?? '', amount: money(line.balance) },
    ...{ text: line.name || '', dueDate: line.date_maturity || null },
    partner: line.partner_id === false ? null : (partners.get(line.partner_id[0]) ?? line.partner_id[1]),
    tags: line.tax_tag_ids.map((id) => tags.get(id)!).toSorted(),
    tax: line.tax_line_id === false ? null : taxes.get(line.tax_line_id[0])!,
    taxBase: money(line.tax_base_amount),
    analytic: Object.fromEntries(
      Object.entries(line.analytic_distribution || {}).flatMap(([ids, share]) =>
        ids.split(',').map((id) => [values.get(Number(id)) ?? id, share]),
      ),
    ),
    ...{ isReconciled: line.reconciled, match: idOf(line.full_reconcile_id), residual: money(line.amount_residual) },
    externalIds: externalIds.get(line.id) ?? [],
  });
  return new Map([...byMove].map(([move, its]) => [move, its.map(told)]));
}

/**
 * The figures of the tax report over posted moves, by the tag's name without its sign. Up to Odoo 18, `tax_tag_invert`
 * of the line and a negative tag each change the sign of the balance. From 19 on, the report's formula gives the sign.
 */
export async function taxReport(person: OdooPerson): Promise<Map<string, Money>> {
  const hasSigns = await person.hasField('account.account.tag', 'tax_negate');
  const negates = hasSigns ? 'tax_negate' : 'balance_negate';
  const lines = await person.read<{ balance: number; tax_tag_ids: number[]; tax_tag_invert?: boolean }>(
    'account.move.line',
    [
      ['company_id', '=', person.company],
      ['parent_state', '=', 'posted'],
      ['tax_tag_ids', '!=', false],
    ],
    ['balance', 'tax_tag_ids', ...(hasSigns ? ['tax_tag_invert'] : [])],
  );
  const tags = await person.read<{ name: string } & Record<string, boolean>>(
    'account.account.tag',
    [['id', 'in', lines.flatMap((line) => line.tax_tag_ids)]],
    ['name', negates],
  );
  const figures = new Map<string, Money>();
  for (const { balance, tax_tag_ids: ids, tax_tag_invert: isInverted = false } of lines) {
    for (const { name, [negates]: isNegated } of tags.filter(({ id }) => ids.includes(id))) {
      const figure = hasSigns ? name.slice(1) : name;
      const amount = isInverted === isNegated ? money(balance) : money(balance).negated();
      figures.set(figure, (figures.get(figure) ?? new Money(0)).plus(amount));
    }
  }
  return figures;
}

/** Resets a posted move to draft like an accountant. This removes its matches. */
export async function resetToDraft(person: OdooPerson, move: number): Promise<void> {
  await person.call('account.move', 'button_draft', [[move]]);
}

export async function post(person: OdooPerson, move: number): Promise<void> {
  await person.call('account.move', 'action_post', [[move]]);
}

/** Enters and posts a move of two lines manually. The first account is debited. */
export async function enterByHand(
  person: OdooPerson,
  entry: {
    journal: string;
    date: string;
    amount: string;
    accounts: readonly [debit: string, credit: string];
    /** The id of a contact for both lines. */
    partner?: number;
  },
): Promise<number> {
  const accounts = await accountsOf(person);
  const lines = entry.accounts.map((account, n) => ({
    ...{ account_id: accounts.get(account), partner_id: entry.partner ?? false },
    [n === 0 ? 'debit' : 'credit']: Number(entry.amount),
  }));
  const move = await person.create('account.move', {
    ...{ move_type: 'entry', journal_id: await idIn(person, 'account.journal', { code: entry.journal }) },
    ...{ date: entry.date, ref: 'by hand', line_ids: lines.map((line) => [0, 0, line]) },
  });
  await post(person, move);
  return move;
}

async function namesOf(person: OdooPerson, model: string, field: string, where: Domain): Promise<Map<number, string>> {
  const found = await person.call<({ id: number } & Record<string, string>)[]>(model, 'search_read', [where, [field]], {
    context: { active_test: false, lang: 'en_US', allowed_company_ids: [person.company] },
  });
  return new Map(found.flatMap(({ id, [field]: name }) => (name ? [[id, name] as const] : [])));
}

async function externalIdsOf(person: OdooPerson, model: string, ids: number[]): Promise<Map<number, string[]>> {
  const found = await person.read<{ complete_name: string; res_id: number }>(
    'ir.model.data',
    [
      ['model', '=', model],
      ['res_id', 'in', ids],
    ],
    ['complete_name', 'res_id'],
  );
  const byRecord = Map.groupBy(found, ({ res_id: id }) => id);
  return new Map([...byRecord].map(([id, its]) => [id, its.map(({ complete_name: name }) => name)]));
}

const known = (ids: (number | null)[]) => ids.filter((id) => id !== null);
