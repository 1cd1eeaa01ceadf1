// The texts of mails, as a person reads them.

import { describe, expect, test } from 'vitest';
import { composeMail } from '../../src/mail/compose.ts';
import { linesAtMost, type MailLine, type Notice } from '../../src/mail/notices.ts';

const setting = {
  installation: { id: 4711, name: 'Haukka', timezone: 'Europe/Helsinki', currency: 'EUR' },
  recipient: 'anna@clinic.example',
  day: '2026-09-16',
  omitted: 0,
  names: null,
};
const at = '2026-09-16T12:00:00Z';
const footer = `
-- 
vetledger sent this mail to anna@clinic.example. The key mail of its
configuration decides who gets which mail.
`;

function line(kind: 'invoice' | 'payment', id: number, more: Partial<MailLine> = {}): MailLine {
  return {
    ...{ ref: { kind, id }, document: `${kind} ${id}`, number: kind === 'invoice' ? `S-${id}` : null },
    ...{ amount: '181.00', date: '2026-09-10', code: 'role_unmapped', ...more },
  };
}

const summary = {
  ref: null,
  document: 'daily summary of 2026-09-15',
  number: null,
  amount: '20.50',
  date: '2026-09-15',
};

const cases: [subject: string, body: string, notices: Notice[]][] = [
  [
    'the books are NOT in order (E2, E5)',
    `Checked 2026-09-16 15:00:00 +03:00.
E2 does NOT hold: receivables in the books equal the amounts due in the
source.
E5 does NOT hold: revenue and VAT in the books equal the invoice rows in the
source.

What to do: \`vetledger reconcile --installation 4711\` lists the documents of
each difference; for E7 add --erp.
`,
    [{ about: 'checks', failing: ['E2', 'E5'], at }],
  ],
  [
    'the books are NOT in order (chain)',
    `Checked 2026-09-16 15:00:00 +03:00.
chain does NOT hold: the hash chain of the books is complete and unchanged.

What to do: \`vetledger ledger verify --installation 4711\` shows the first link
that was changed. Compare it with a backup before you post or close anything.
`,
    [{ about: 'checks', failing: ['chain'], at }],
  ],
  [
    'the books are in order again (and 1 earlier event)',
    `Checked 2026-09-16 14:00:00 +03:00.
E2 does NOT hold: receivables in the books equal the amounts due in the
source.

What to do: \`vetledger reconcile --installation 4711\` lists the documents of
each difference; for E7 add --erp.

Checked 2026-09-16 15:00:00 +03:00.
All checks of this kind hold again.
`,
    [
      { about: 'checks', failing: ['E2'], at: '2026-09-16T11:00:00Z' },
      { about: 'checks', failing: [], at },
    ],
  ],
  [
    'the ERP refuses 3 entries (erp_account_unknown)',
    `Found 2026-09-16 15:00:00 +03:00.
erp_account_unknown: The account does not exist in the ERP, or it is closed or
not postable.

  invoice 1 (S-1)  181.00 EUR  2026-09-10  6 days old
  daily summary of 2026-09-15  20.50 EUR  2026-09-15  1 day old
  and 1 more: vetledger problems --code erp_account_unknown --installation 4711

What to do: Create or open the account in the ERP, or change the mapping file
and run \`vetledger sync\`. Then run \`vetledger deliver retry\`.
`,
    [
      {
        about: 'erp_refused',
        ...{ code: 'erp_account_unknown', count: 3, at },
        lines: [line('invoice', 1), { ...summary, code: 'erp_account_unknown' }],
      },
    ],
  ],
  [
    'the ERP refuses all requests (erp_login_refused)',
    `Found 2026-09-16 15:00:00 +03:00.
erp_login_refused: The ERP refuses the login of the API user, so nothing is
delivered.

What to do: Check user and password or key of \`erp\` in the configuration.
\`vetledger erp check\` tries them.
`,
    [{ about: 'erp_refused', code: 'erp_login_refused', count: 0, lines: [], at }],
  ],
  [
    'the books were closed through 2026-08-31',
    `The books were closed through 2026-08-31, 2026-09-16 15:00:00 +03:00, by M.
Virtanen with A. Laine.

What to do: \`vetledger ledger closes --installation 4711\` lists all closes and
reopenings, with reasons.
`,
    [{ about: 'close', through: '2026-08-31', by: 'M. Virtanen', second: 'A. Laine', at }],
  ],
  [
    'the books were reopened from 2026-08-01',
    `The books were reopened from 2026-08-01, 2026-09-16 15:00:00 +03:00, by M.
Virtanen.

What to do: \`vetledger ledger closes --installation 4711\` lists all closes and
reopenings, with reasons.
`,
    [{ about: 'reopen', through: '2026-07-31', by: 'M. Virtanen', second: null, at }],
  ],
  [
    'the mapping changed (version 3)',
    `Version 3 (2026-09) of the mapping is in force since 2026-09-16 15:00:00
+03:00.
M. Virtanen put it in force.
The file says that A. Laine approved it.

What to do: \`vetledger mapping history --installation 4711\` lists the
versions. Posted entries stay until \`vetledger repost\`.
`,
    [{ about: 'mapping', number: 3, version: '2026-09', approved_by: 'A. Laine', by: 'M. Virtanen', at }],
  ],
  [
    'new since the last mail: 4 held, 1 overpaid',
    `Held documents, which are not in the books: 4 new, 12 in all
New: 2 invoices, 362.00 EUR; 2 payments, amount unknown.

role_unmapped: The mapping has no account for a role that the document
requires.
  invoice 1 (S-1)  181.00 EUR  2026-09-10  6 days old
What to do: Add the account under \`roles\` in the mapping file and run
\`vetledger sync\`, which loads the file. The document is then posted.

invoice_unknown: The payment belongs to an invoice that vetledger has not read
yet.
  payment 3  amount unknown  no date
What to do: Usually nothing: the invoice is fetched automatically. If the
problem persists, check in the practice software whether the invoice still
exists.

  and 2 more: vetledger problems --installation 4711

Overpaid invoices: 1 new, 1 in all
New: 1 invoice, 5.00 EUR.

overpaid: The payments exceed the total of the invoice: its due_sum is below
zero.
  invoice 9 (S-9)  5.00 EUR  2026-09-10  6 days old
What to do: In the practice software, pay the excess back to the client or
settle another invoice with it. If a payment was entered twice, cancel it
there.

\`vetledger explain KIND ID --installation 4711\` explains one document.
`,
    [
      {
        about: 'daily',
        day: '2026-09-16',
        sections: [
          {
            ...{ what: 'held', count: 4, open: 12 },
            sums: [
              { kind: 'invoice', count: 2, amount: '362.00' },
              { kind: 'payment', count: 2, amount: null },
            ],
            lines: [line('invoice', 1), line('payment', 3, { amount: null, date: null, code: 'invoice_unknown' })],
          },
          {
            ...{ what: 'overpaid', count: 1, open: 1, sums: [{ kind: 'invoice', count: 1, amount: '5.00' }] },
            lines: [line('invoice', 9, { amount: '5.00', code: 'overpaid' })],
          },
        ],
      },
    ],
  ],
  [
    '2026-08 is not closed: 3 items of its checklist need attention',
    `The books are not closed through 2026-08-31. The close still lacks:

- No window has read the source after the end of the month: \`vetledger sync\`
- 3 held documents: \`vetledger problems\`
    role_unmapped 2, invoice_unknown 1
- 2 checks did not hold at the last reconciliation: \`vetledger reconcile\`
    E2, E5

What to do: \`vetledger ledger close --through 2026-08-31 --dry-run
--installation 4711\` shows the whole checklist. Without --dry-run it closes
the books.
`,
    [
      {
        about: 'monthly',
        through: '2026-08-31',
        missing: [
          { item: 'last_window', count: 1, parts: {} },
          { item: 'held', count: 3, parts: { role_unmapped: 2, invoice_unknown: 1 } },
          { item: 'differences', count: 2, parts: { E2: 1, E5: 1 } },
        ],
      },
    ],
  ],
];

test.each(cases)('%s', (subject, body, notices) => {
  const mail = composeMail(notices, setting);
  expect(mail.subject).toBe(`[vetledger] 4711 (Haukka): ${subject}`);
  expect(mail.text).toBe(`Installation 4711 (Haukka)\n\n${body}${footer}`);
});

describe('names of clients', () => {
  const notices: Notice[] = [
    { about: 'erp_refused', code: 'erp_party_refused', count: 1, lines: [line('invoice', 1)], at },
  ];
  const names = new Map([['invoice/1', 'Aino Hietala']]);

  test('are in a mail only if the recipient may see them', () => {
    expect(composeMail(notices, setting).text).toContain('6 days old\n');
    expect(composeMail(notices, { ...setting, names }).text).toContain('6 days old  Aino Hietala\n');
  });
});

describe('text from outside', () => {
  const hostile = 'Rex\r\nBcc: all@evil.example\r\n\r\n.\r\nQUIT\u001b[2J\u202etxt\u0000\ud800';
  const long = 'x'.repeat(10_000);

  test('neither ends a line nor controls a terminal, and is short', () => {
    const lines = [line('invoice', 1, { number: hostile, code: hostile }), line('invoice', 2, { number: long })];
    const notices: Notice[] = [
      { about: 'daily', day: '2026-09-16', sections: [{ what: 'held', count: 2, open: 2, sums: [], lines }] },
      { about: 'close', through: '2026-08-31', by: hostile, second: long, at },
      { about: 'mapping', number: 3, version: hostile, approved_by: long, by: hostile, at },
    ];
    const { subject, text } = composeMail(notices, {
      ...setting,
      installation: { ...setting.installation, name: hostile },
      names: new Map([['invoice/1', hostile]]),
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be there
    expect(`${subject}${text}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(`${subject}${text}`.isWellFormed()).toBe(true);
    expect(subject).not.toContain('\n');
    expect(subject.length).toBeLessThanOrEqual(151);
    expect(text).not.toMatch(/^(Bcc|QUIT|\.$)/m);
    expect(text).toContain('  invoice 1 (Rex\\r\\nBcc: all@evil.example');
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThan(250);
  });

  test('a mail of the most events and lines stays small', () => {
    const lines = Array.from({ length: linesAtMost }, (_, n) => line('invoice', n));
    const notices = Array.from({ length: 20 }, (): Notice => {
      return { about: 'erp_refused', code: 'erp_refused', count: 10_000, lines, at };
    });
    const { subject, text } = composeMail(notices, { ...setting, omitted: 5 });
    expect(text.length).toBeLessThan(60_000);
    expect(subject).toContain('(and 24 earlier events)');
    expect(text).toContain('And 5 earlier events of this kind within the hour.');
    expect(text).toContain('  and 9980 more: vetledger problems');
  });
});
