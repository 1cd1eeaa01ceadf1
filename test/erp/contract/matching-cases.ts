// What stays open in an ERP that matches lines: the receivables of invoices, and the prepayments of clients.

import { deepStrictEqual } from 'node:assert/strict';
import type { DraftEntry } from '../../../src/domain/entry.ts';
import { Money, sum } from '../../../src/domain/money.ts';
import { type DraftLine, draft, party } from '../../ledger/drafts.ts';
import type { ContractCase, ContractDelivery, ContractSubject, HeldInErp } from './cases.ts';

const client = { party: party(7) };
const minus = (amount: string) => new Money(amount).negated().toFixed(2);

/** An invoice of 251.00. */
function invoice(id: number): DraftEntry {
  const vat = { group: 'A', rate: new Money('25.5') };
  return draft({
    ...{ kind: 'invoice', id, date: '2026-03-02' },
    lines: [
      ['1700', 'receivable', '251.00', { invoiceId: id, ...client }],
      ['3000', 'revenue', '-200.00', { vat: { ...vat, base: null }, ...client }],
      ['2931', 'vat', '-51.00', { vat: { ...vat, base: new Money(200) }, ...client }],
    ],
  });
}

/** A negative amount is a refund. */
function prepayment(id: number, amount: string): DraftEntry {
  const tags = { rule: amount.startsWith('-') ? 'R6' : 'R5', paymentType: 2 };
  const lines: DraftLine[] = [
    ['1910', 'bank_clearing', amount, tags],
    ['2400', 'prepayment_liability', minus(amount), { ...tags, ...client }],
  ];
  return draft({ kind: 'prepayment', id, date: '2026-03-02', lines });
}

/** A payment of an invoice from a prepayment. */
function use(id: number, invoiceId: number, amount: string): DraftEntry {
  const tags = { rule: 'R7', paymentType: 8, ...client };
  const lines: DraftLine[] = [
    ['2400', 'prepayment_liability', amount, tags],
    ['1700', 'receivable', minus(amount), { ...tags, invoiceId }],
  ];
  return draft({ kind: 'payment', id, date: '2026-03-05', lines });
}

/** Prepayments of 100.00 twice, of which 40.00 were refunded; uses of 60.00 (of the first one) and 80.00 (of an unknown one). */
const documents = [
  ...[prepayment(8, '100.00'), prepayment(9, '100.00'), prepayment(10, '-40.00')],
  ...[invoice(1), use(77, 1, '60.00'), use(78, 1, '80.00')],
];

async function postAll(delivery: ContractDelivery, mode: 'document' | 'daily_summary'): Promise<void> {
  await delivery.write(
    'insert into prepayment_refund (installation, refund_id, original_id, amount) values (?, 10, 9, 40)',
  );
  await delivery.write(
    'insert into prepayment_match (installation, payment_id, prepayment_id, amount) values (?, 77, 9, 60)',
  );
  await delivery.postDrafts(documents, mode);
  await delivery.drain();
  await delivery.matchItems();
}

/** The document or day of an entry, and the amount of its line. */
const lineText = ({ description }: HeldInErp, { amount }: HeldInErp['lines'][number]) =>
  `${/Summary of [\d-]+/.exec(description) ?? description} ${amount.toFixed(2)}`;

async function linesOn(subject: ContractSubject, account: string) {
  const entries = await subject.held();
  return entries.flatMap((entry) =>
    entry.lines.flatMap((line) => (line.account === account ? [{ ...line, text: lineText(entry, line) }] : [])),
  );
}

/** The groups of matched lines on an account, each as the sorted texts of its lines, and the open lines. */
async function itemsOn(subject: ContractSubject, account: string) {
  const lines = await linesOn(subject, account);
  const isOpen = ({ matched }: (typeof lines)[number]) => matched == null;
  const groups = Map.groupBy(
    lines.filter((line) => !isOpen(line)),
    ({ matched }) => matched,
  );
  const sorted = (of: typeof lines) => of.map(({ text }) => text).sort();
  return {
    matched: [...groups.values()].map(sorted).sort(),
    open: sorted(lines.filter(isOpen)),
  };
}

export const matchingCases: ContractCase[] = [
  {
    name: 'prepayments are matched as receivables are, and a use without a known prepayment stays open with its name',
    doesNotApply: () => null,
    async run(delivery, subject) {
      await postAll(delivery, 'document');
      const first = ['payment 77 60.00', 'prepayment 10 40.00', 'prepayment 9 -100.00'];
      deepStrictEqual(await itemsOn(subject, '2400'), {
        matched: [first],
        open: ['payment 78 80.00', 'prepayment 8 -100.00'],
      });
      deepStrictEqual((await itemsOn(subject, '1700')).matched, []);
      // The second use is matched later, by a person, and a refund uses up the prepayment. The invoice is paid, too.
      await delivery.write(
        'insert into prepayment_match (installation, payment_id, prepayment_id, amount) values (?, 78, 8, 80)',
      );
      await delivery.write(
        'insert into prepayment_refund (installation, refund_id, original_id, amount) values (?, 11, 8, 20)',
      );
      await delivery.postDrafts([prepayment(11, '-20.00'), use(79, 1, '111.00')], 'document');
      await delivery.drain();
      await delivery.matchItems();
      deepStrictEqual(await itemsOn(subject, '2400'), {
        matched: [first, ['payment 78 80.00', 'prepayment 11 20.00', 'prepayment 8 -100.00']],
        open: ['payment 79 111.00'],
      });
      deepStrictEqual(await itemsOn(subject, '1700'), {
        matched: [['invoice 1 251.00', 'payment 77 -60.00', 'payment 78 -80.00', 'payment 79 -111.00']],
        open: [],
      });
    },
  },
  {
    name: 'in daily summaries, receivables and prepayments are one balance of all clients, and no line is matched',
    doesNotApply: () => null,
    async run(delivery, subject) {
      await postAll(delivery, 'daily_summary');
      deepStrictEqual(
        (await delivery.units()).map(({ state }) => state),
        ['delivered', 'delivered'],
      );
      const [day, next] = ['Summary of 2026-03-02', 'Summary of 2026-03-05'];
      deepStrictEqual(await itemsOn(subject, '2400'), {
        matched: [],
        open: [`${day} -200.00`, `${day} 40.00`, `${next} 140.00`],
      });
      deepStrictEqual(await itemsOn(subject, '1700'), {
        matched: [],
        open: [`${day} 251.00`, `${next} -140.00`],
      });
      // The clients have 20.00 left, which only the books divide between prepayments.
      const lines = await linesOn(subject, '2400');
      deepStrictEqual(sum(lines.map(({ amount }) => amount)).toFixed(2), '-20.00');
    },
  },
];
