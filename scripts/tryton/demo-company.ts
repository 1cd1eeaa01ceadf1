/** A company as scripts/tryton/setup creates it in a new Tryton database. */
export interface TrytonCompany {
  name: string;
  currency: string;
  decimals: number;
  accounts: TrytonAccount[];
  taxes: { name: string; rate: string; account: string }[];
  years: number[];
  journals: { code: string; name: string }[];
  /** Roots of analytic accounts. The name of a root is the name of its dimension. */
  dimensions: { code: string; name: string; values: { code: string; name: string }[] }[];
  parties: { code: string; name: string }[];
}

export interface TrytonAccount {
  code: string;
  name: string;
  kind: 'asset' | 'receivable' | 'liability' | 'payable' | 'equity' | 'revenue' | 'expense';
  /** True if lines of the account can be matched. */
  reconcile: boolean;
  /** True if each line needs a party. Otherwise Tryton refuses lines with one. */
  party: boolean;
}

function account(code: string, name: string, kind: TrytonAccount['kind'], options: Partial<TrytonAccount> = {}) {
  return { code, name, kind, reconcile: false, party: false, ...options };
}

const control = { reconcile: true, party: true };

/** The value of lines without a dimension, because Tryton requires a value on every root for each revenue line. */
const noValue = { code: 'NONE', name: 'Without' };

/** The company of the sandbox clinic (mappings/tryton-demo.yaml). */
export const demoCompany: TrytonCompany = {
  name: 'Kuusikko Veterinary Group',
  currency: 'EUR',
  decimals: 2,
  accounts: [
    account('1700', 'Trade receivables', 'receivable', control),
    account('1709', 'Trade receivables before the cut-over', 'receivable', control),
    account('1710', 'Receivables from insurers', 'receivable', control),
    account('1715', 'Receivables from financing', 'receivable', control),
    account('1760', 'Consolidated invoices', 'asset'),
    account('1790', 'Clearing of consolidated invoices', 'asset'),
    account('1791', 'Clearing of credit notes', 'asset'),
    account('1900', 'Cash', 'asset'),
    account('1910', 'Bank clearing', 'asset'),
    account('1920', 'Card clearing', 'asset'),
    account('1921', 'Mobile payment clearing', 'asset'),
    account('1922', 'Cheque clearing', 'asset'),
    account('1929', 'Other clearing', 'asset'),
    account('2000', 'Equity', 'equity'),
    account('2400', 'Prepayments of clients', 'liability', control),
    account('2401', 'VAT on prepayments', 'asset'),
    account('2410', 'Vouchers', 'liability'),
    account('2411', 'Gift cards', 'liability'),
    account('2900', 'Trade payables', 'payable', control),
    account('2931', 'VAT 25.5 %', 'liability'),
    account('2932', 'VAT, reduced rate', 'liability'),
    account('2933', 'VAT 10 %', 'liability'),
    account('2934', 'VAT 0 %', 'liability'),
    account('2935', 'VAT of EU sales', 'liability'),
    account('2939', 'VAT, other', 'liability'),
    account('3000', 'Consultations', 'revenue'),
    account('3010', 'Surgery and anaesthesia', 'revenue'),
    account('3020', 'Laboratory', 'revenue'),
    account('3030', 'Imaging', 'revenue'),
    account('3100', 'Medicines', 'revenue'),
    account('3110', 'Supplies', 'revenue'),
    account('3120', 'Pet food', 'revenue'),
    account('3130', 'Publications', 'revenue'),
    account('3200', 'Home and farm visits', 'revenue'),
    account('3300', 'Statements and certificates', 'revenue'),
    account('3900', 'Discounts given', 'revenue'),
    account('3990', 'Rounding', 'revenue'),
    account('4000', 'Materials', 'expense'),
  ],
  taxes: [
    { name: 'Sales 25.5 %', rate: '25.5', account: '2931' },
    { name: 'Sales 14 %', rate: '14', account: '2932' },
    { name: 'Sales 13.5 %', rate: '13.5', account: '2932' },
    { name: 'Sales 10 %', rate: '10', account: '2933' },
    { name: 'Sales 0 %', rate: '0', account: '2934' },
    { name: 'Sales EU 0 %', rate: '0', account: '2935' },
  ],
  years: [2024, 2025, 2026, 2027],
  // Tryton creates these journals: REV, EXP, CASH, MISC.
  journals: [],
  dimensions: [
    {
      code: 'DEPARTMENT',
      name: 'Department',
      values: [
        { code: '11', name: 'Kuusikko Animal Hospital' },
        { code: '12', name: 'Ranta Veterinary Clinic' },
        { code: '13', name: 'Pelto Mobile Practice' },
        noValue,
      ],
    },
    {
      code: 'DIM1',
      name: 'Reporting dimension 1',
      values: [
        { code: 'SURG', name: 'Surgery' },
        { code: 'LAB', name: 'Laboratory' },
        { code: 'IMG', name: 'Imaging' },
        noValue,
      ],
    },
    {
      code: 'DIM2',
      name: 'Reporting dimension 2',
      values: [
        { code: 'CAT', name: 'Cats' },
        { code: 'DOG', name: 'Dogs' },
        { code: 'HORSE', name: 'Horses' },
        noValue,
      ],
    },
  ],
  parties: [
    { code: 'CLIENTS', name: 'Clients of the practice' },
    { code: 'CASH', name: 'Counter sales' },
    { code: 'INSURANCE', name: 'Insurance companies' },
    { code: 'FINANCING', name: 'Financing companies' },
  ],
};

/** The API user has the least rights that delivery needs. The other users are for people. */
export const trytonUsers = {
  api: { login: 'vetledger', name: 'vetledger (API)', groups: ['Accounting'] },
  accountant: {
    login: 'accountant',
    name: 'Accountant',
    groups: ['Accounting Administration', 'Analytic Administration', 'Party Administration'],
  },
} as const;
