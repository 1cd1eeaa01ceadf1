import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry, ErpLine } from '../../../src/erp/erp-entry.ts';

/** `[account, signed amount, fields]`; debits are positive. */
export type EntryLine = [account: string, amount: string, fields?: Partial<ErpLine>];

/** An entry for an ERP; without lines, a sale of 10.00. */
export function erpEntry(n: number, fields: Partial<Omit<ErpEntry, 'lines'>> & { lines?: EntryLine[] } = {}): ErpEntry {
  const sale: EntryLine[] = [
    ['1700', '10.00'],
    ['3000', '-10.00'],
  ];
  const { lines = sale, ...others } = fields;
  return {
    key: `KEY${String(n).padStart(17, 'A')}`,
    unitId: `1/invoice/${n}/1`,
    installation: 1,
    date: '2026-03-02',
    journal: 'SALES',
    description: `invoice ${n}`,
    reference: null,
    reverses: null,
    ...others,
    lines: lines.map(([account, amount, line]) => {
      const signed = new Money(amount);
      return {
        account,
        role: account === '1700' ? 'receivable' : 'revenue',
        side: signed.isNegative() ? 'credit' : 'debit',
        amount: signed.abs(),
        description: '',
        party: null,
        vat: null,
        dimensions: {},
        openItem: null,
        dueDate: null,
        ...line,
      };
    }),
  };
}
