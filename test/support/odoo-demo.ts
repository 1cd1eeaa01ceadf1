import type { OdooBooksPlan } from './odoo-company.ts';

const asset = (code: string, name: string) => ({ code, name, type: 'asset_current' });
const receivable = (code: string, name: string) => ({ code, name, type: 'asset_receivable', reconcile: true });
const liability = (code: string, name: string) => ({ code, name, type: 'liability_current' });
const income = (code: string, name: string) => ({ code, name, type: 'income' });

/** The accounts, taxes and journals of mappings/odoo-demo.yaml that the generic chart lacks. */
export const demoBooks: OdooBooksPlan = {
  chart: 'generic_coa',
  accounts: [
    // In Odoo 17 and 18 the cash journal brings this account; the chart of Odoo 19 has no cash journal.
    { code: '101501', name: 'Cash', type: 'asset_cash' },
    asset('101910', 'Bank clearing'),
    asset('101920', 'Card clearing'),
    asset('101921', 'Mobile payment clearing'),
    asset('101922', 'Cheque clearing'),
    asset('101929', 'Other clearing'),
    receivable('121009', 'Account Receivable before the cut-over'),
    receivable('121010', 'Receivables from insurers'),
    receivable('121015', 'Receivables from financing'),
    asset('121090', 'Clearing of consolidated invoices'),
    asset('121091', 'Clearing of credit notes'),
    liability('213000', 'Prepayments of clients'),
    asset('213001', 'VAT on prepayments'),
    liability('213010', 'Vouchers'),
    liability('213011', 'Gift cards'),
    income('400010', 'Consultations'),
    income('400020', 'Surgery and anaesthesia'),
    income('400030', 'Laboratory'),
    income('400040', 'Imaging'),
    income('400050', 'Home and farm visits'),
    income('400060', 'Statements and certificates'),
    income('400900', 'Discounts given'),
    income('449000', 'Rounding'),
  ],
  taxes: [
    { name: '25.5%', rate: 25.5, account: '251000' },
    { name: '14%', rate: 14, account: '251000' },
    { name: '13.5%', rate: 13.5, account: '251000' },
    { name: '10%', rate: 10, account: '251000' },
    { name: '0%', rate: 0, account: null },
    { name: '0% EU S', rate: 0, account: null },
  ],
  journals: [
    { code: 'VETI', name: 'Veterinary invoices' },
    { code: 'VETP', name: 'Veterinary payments' },
    { code: 'VETD', name: 'Veterinary daily summaries' },
  ],
  plans: [
    {
      name: 'Department',
      accounts: [
        { code: '11', name: 'Kuusikko Animal Hospital' },
        { code: '12', name: 'Ranta Veterinary Clinic' },
        { code: '13', name: 'Pelto Mobile Practice' },
      ],
    },
    {
      name: 'Reporting dimension 1',
      accounts: [
        { code: 'SURG', name: 'Surgery' },
        { code: 'LAB', name: 'Laboratory' },
        { code: 'IMG', name: 'Imaging' },
      ],
    },
    {
      name: 'Reporting dimension 2',
      accounts: [
        { code: 'CAT', name: 'Cats' },
        { code: 'DOG', name: 'Dogs' },
        { code: 'HORSE', name: 'Horses' },
      ],
    },
  ],
  partners: [
    { ref: 'CLIENTS', name: 'Clients of the practice' },
    { ref: 'INSURANCE', name: 'Insurance companies' },
    { ref: 'FINANCING', name: 'Financing companies' },
  ],
};

/** The demo's books, with the accounts of the rounds and of the contract's cases. */
export const contractBooks: OdooBooksPlan = {
  ...demoBooks,
  accounts: [
    ...demoBooks.accounts,
    receivable('1700', 'Trade receivables'),
    liability('2931', 'VAT 25.5 %'),
    income('3000', 'Consultations'),
    income('3010', 'Surgery and anaesthesia'),
    income('3020', 'Laboratory'),
  ],
  // The collective party of the rounds.
  partners: [...demoBooks.partners, { ref: 'CASH', name: 'Counter sales' }],
};

/** The section `erp` of the contract's mapping for these books. */
export const contractWords = {
  vat_codes: { A: '25.5%' },
  dimensions: { dimension_1: { name: 'Reporting dimension 1', values: { east: 'LAB', west: 'IMG' } } },
  journals: { '*': 'VETI' },
};
