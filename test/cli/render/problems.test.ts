import { expect, test } from 'vitest';
import { problemsText } from '../../../src/cli/render/problems.ts';
import type { DocumentProblem, OutsideDocument } from '../../../src/queries/problems.ts';

const since = new Date('2026-02-01T08:00:00Z');
const facts: OutsideDocument = {
  ...{
    date: '2026-01-15',
    number: null,
    customer: 'Aino Harjula',
    department: 11,
    amount: '181.00',
    vat: '31.00',
    posted: false,
  },
  ...{ causes: [], changes: [], effect: [] },
};
const lacks = (id: string, causes: string[], more: Partial<OutsideDocument> = {}): DocumentProblem => ({
  ...{ id: `4711/${id}`, installation: 4711, document: id.replace('/', ' '), code: 'role_unmapped' },
  ...{ message: `Invoice A-1001 (id 1): ${causes.join('; ')}`, todo: 'Add the account.', since },
  outside: { ...facts, causes, ...more },
});

test('a line for each cause, then the documents of each, once; other things that a document lacks are shown', () => {
  const card = 'the mapping has no account for roles.card_clearing';
  const receivable = 'the mapping has no account for roles.receivable';
  const text = problemsText(
    [
      lacks('payment/1', [card], { number: 'A-1001', amount: '40.00', vat: null, department: null }),
      lacks('payment/2', [card, receivable], { amount: '1181.00', vat: null }),
      lacks('invoice/1', [receivable], { number: 'A-1001' }),
      {
        ...{ id: '4711/invoice/2', installation: 4711, document: 'invoice 2', code: 'change_held', since },
        ...{ message: 'Invoice A-2: voided', todo: 'Open the period.' },
        outside: {
          ...{ ...facts, amount: '-181.00', vat: '-31.00', posted: true },
          changes: [{ field: 'state', old: 'posted', new: 'voided' }],
          effect: [
            { account: '1700', name: 'Receivables', amount: '-181.00' },
            { account: '3000', name: null, amount: '150.00' },
          ],
        },
      },
      {
        ...{ id: '4711/invoice/3', installation: 4711, document: 'invoice 3', code: 'totals_disagree', since },
        ...{ message: 'Invoice A-3 (id 3): total is 1.00, its rows sum to 2.00', todo: 'Compare.' },
        outside: { ...facts, date: null, amount: null, vat: null, customer: null },
      },
      {
        ...{ id: '4711/invoice/9/1', installation: 4711, document: 'invoice 9', code: 'erp_refused', since },
        ...{ message: 'no such account', todo: 'Mend it.' },
      },
    ],
    {
      remarks: [
        { installation: 4711, code: 'overpaid', count: 2, amount: '12.50', todo: 'Pay it back.' },
        { installation: 4711, code: 'opening_changed', count: 1, amount: '70.00', todo: 'Compare.' },
        { installation: 4711, code: 'payer_name_changed', count: 384, amount: null, todo: 'Nothing.' },
      ],
      not_judged: 1,
    },
  );
  expect(`\n${text}`).toBe(`
5 documents with a problem, 1 entry, number or row refused:
  2  role_unmapped    1221.00  the mapping has no account for roles.card_clearing
  1  role_unmapped     181.00  the mapping has no account for roles.receivable
  1  change_held      -181.00  The document changed after it was posted, and the correction would be in a closed period. The old entry stays in force.
  1  totals_disagree           The rows do not add up to the document's totals (P1).
  1  erp_refused               The ERP refuses the entry.

role_unmapped: the mapping has no account for roles.card_clearing (2)
  what to do: Add the account.
  4711/payment/1 on A-1001  2026-01-15  Aino Harjula                   40.00    since 2026-02-01 08:00:00 UTC
  4711/payment/2            2026-01-15  Aino Harjula  department 11  1181.00    since 2026-02-01 08:00:00 UTC
      also the mapping has no account for roles.receivable

role_unmapped: the mapping has no account for roles.receivable (1)
  what to do: Add the account.
  4711/invoice/1 A-1001  2026-01-15  Aino Harjula  department 11  181.00  VAT 31.00  since 2026-02-01 08:00:00 UTC

change_held (1)
  what to do: Open the period.
  4711/invoice/2  2026-01-15  Aino Harjula  department 11  differs by -181.00  VAT -31.00  since 2026-02-01 08:00:00 UTC
      changed: state posted → voided
      the correction, debit +: 1700 Receivables -181.00, 3000 +150.00

totals_disagree (1)
  what to do: Compare.
  4711/invoice/3  no date  no customer  department 11  unknown amount    since 2026-02-01 08:00:00 UTC
      Invoice A-3 (id 3): total is 1.00, its rows sum to 2.00

erp_refused (1)
  what to do: Mend it.
  4711/invoice/9/1            since 2026-02-01 08:00:00 UTC
      no such account

1 document read, and not judged yet: \`vetledger sync\` judges them.

Remarks about posted documents, with the sum of the amounts concerned:
    2  overpaid            12.50  The payments exceed the total of the invoice: its due_sum is below zero.
      what to do: Pay it back.
  384  payer_name_changed         The payer has another name in the source than in the entry. Key, VAT number and country are the same (R8).
      what to do: Nothing.

Remarks about documents from before the start date, which the opening balances contain, with the sum of the amounts concerned:
  1  opening_changed  70.00  A document dated before start_date was created, voided or changed on or after it. The opening balances may be wrong.
      what to do: Compare.
\`vetledger problems --code CODE\` lists the documents of a code.`);
});

test('nothing', () => {
  expect(problemsText([])).toBe('Nothing is held or refused.');
});

test('a posted document that a changed mapping would post otherwise has its message, and no difference of 0.00', () => {
  const message =
    'Cash rounding 5 on invoice A-1: mapped differently, but 2026-01-15 is closed; 4711/payment/5/1 stays in force.';
  const text = problemsText([
    {
      ...{ id: '4711/payment/5', installation: 4711, document: 'payment 5', code: 'change_held', since },
      ...{ message, todo: 'Decide.' },
      outside: {
        ...{ ...facts, amount: '0.00', vat: null, posted: true },
        effect: [
          { account: '3990', name: null, amount: '0.02' },
          { account: '3991', name: null, amount: '-0.02' },
        ],
      },
    },
  ]);
  expect(text.split('\n').slice(-2)).toEqual([
    '  4711/payment/5  2026-01-15  Aino Harjula  department 11  same amount    since 2026-02-01 08:00:00 UTC',
    `      ${message}`,
  ]);
});
