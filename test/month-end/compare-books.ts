// Compares what commands print with the figures of the expected journal. Each difference is a line.

import { Decimal } from 'decimal.js';
import { addDays } from '../../sandbox/src/zone.ts';
import { mappingData } from '../support/expected-books.ts';
import { month, monthEnd, sections } from './compare.ts';
import { accountsOf, type Compare, compareExports, plain, vatOf } from './compare-journal.ts';
import type { Journal } from './journal.ts';
import type { Variant } from './variant.ts';
import type { World } from './world.ts';

/** The played months. */
const months = [
  { of: '2025-09', through: '2025-09-30' },
  { of: month, through: monthEnd },
  { of: '2025-11', through: '2025-11-30' },
];
const end = '9999-12-31';
/** The last played day. October is closed for a part of the play, and a closed day has no checklist. */
const lastDay = '2025-11-30';

/** Roles of money, and of accounts that must become zero, on accounts of their own in the demo's mapping. */
const cleared = /^(17[19]\d|19\d\d)$/;
const payments = /^(payment|prepayment)\//;

/** Compares exports and reports with the journal. Returns the differences. `filing.ts` compares filed VAT returns. */
export async function compareBooks(
  world: World,
  journal: Journal,
  variant: Variant,
  isFiled = false,
): Promise<string[]> {
  const different: string[] = [];
  const compare: Compare = (what, got, asked) => {
    const [mine, theirs] = [got, asked].map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    if (mine !== theirs) different.push(`${what}\n    books:    ${mine}\n    expected: ${theirs}`);
  };
  await compareExports(compare, world, journal, variant);
  for (const { of, through } of months) {
    await compareAccounts(compare, world, journal, of, through);
    if (!isFiled) await compareVat(compare, world, journal, of);
    await compareClearing(compare, world, journal, of, through);
  }
  await compareReceivables(compare, world, journal);
  await compareReconciled(compare, world, journal);
  return different;
}

/** Trial balance, income, balance sheet, and the lines of the journal and of each account. */
async function compareAccounts(
  compare: Compare,
  world: World,
  journal: Journal,
  of: string,
  through: string,
): Promise<void> {
  const accounts = accountsOf(journal, `${of}-01`, through);
  const isResult = (account: string) => account.startsWith('3');
  const row = (names: string[]) => (figure: Record<string, unknown>) => names.map((name) => figure[name]);
  const figuresOf = async (report: string, section: string, names: string[]) => {
    const { figures = [] } = (await sections(world, `${report} --month ${of}`))[section] ?? {};
    return figures
      .filter(({ account }) => account)
      .map(row(['account', ...names]))
      .toSorted();
  };
  const all = [...accounts].map(([account, figures]) => [account, ...figures]).toSorted();
  compare(
    `report trial-balance of ${of}`,
    await figuresOf('trial-balance', 'trial_balance', ['opening', 'debit', 'credit', 'closing']),
    all,
  );
  const negated = (amount: string) => plain(new Decimal(amount).negated());
  const results = [...accounts].filter(([account]) => isResult(account));
  compare(
    `report income of ${of}`,
    await figuresOf('income', 'income', ['amount', 'year_to_date']),
    results
      .map(([account, [opening = '', , , closing = '']]) => [
        account,
        plain(new Decimal(opening).minus(closing)),
        negated(closing),
      ])
      .toSorted(),
  );
  compare(
    `report balance-sheet of ${of}`,
    await figuresOf('balance-sheet', 'balance_sheet', ['type', 'opening', 'closing']),
    [...accounts]
      .filter(([account]) => !isResult(account))
      .map(([account, [opening, , , closing]]) => [
        account,
        account.startsWith('1') ? 'asset' : 'liability',
        opening,
        closing,
      ])
      .toSorted(),
  );
  const dated = journal.entries.filter(({ on }) => on.startsWith(of));
  const lines = dated.flatMap(({ document, on, lines: own }) =>
    own.map(({ account, amount, department }) => {
      const [debit, credit] = amount.isNegative()
        ? ['0.00', plain(amount.negated().toFixed())]
        : [plain(amount.toFixed()), '0.00'];
      return [on, document.replace('/', ' '), account, String(department), debit, credit].join(' ');
    }),
  );
  const printed =
    (await sections(world, `journal --month ${of}`)).journal?.figures.flatMap(({ documents }) => documents) ?? [];
  const shown = printed.map(({ date, document, account, department, debit, credit }) =>
    [date, document, account, department, debit, credit].join(' '),
  );
  compare(`report journal of ${of}`, shown.toSorted().join('\n'), lines.toSorted().join('\n'));
  for (const account of ['1700', '2931']) {
    const section = (await sections(world, `account ${account} --month ${of}`)).account;
    const running = section?.figures[0]?.documents.at(-1)?.running_balance;
    if (running !== undefined)
      compare(`report account ${account} of ${of}, balance`, running, accounts.get(account)?.[3]);
  }
}

/** VAT by group, and late VAT. */
async function compareVat(compare: Compare, world: World, journal: Journal, of: string): Promise<void> {
  const report = await sections(world, `vat --month ${of}`);
  const mapping = mappingData(world.mapping.text);
  for (const [section, isLate] of [
    ['vat', false],
    ['late', true],
  ] as const) {
    const figures = report[section]?.figures.map(({ period, documents_of, kind, group, rate, base, tax }) => [
      [period, documents_of, kind, group, rate].join(' '),
      `${base} ${tax}`,
    ]);
    const asked = vatOf(journal, mapping, (entry) => entry.on.startsWith(of) && entry.isLate === isLate);
    compare(`report vat of ${of}, ${section}`, (figures ?? []).toSorted(), [...asked].toSorted());
    const total = [...asked.values()].reduce((sum, text) => sum.plus(text.split(' ')[1] ?? 0), new Decimal(0));
    compare(`report vat of ${of}, ${section}, total`, report[section]?.total.tax ?? '0.00', plain(total));
  }
}

/** Payments by account, and the balances of their accounts, also in the checklist of the close. */
async function compareClearing(
  compare: Compare,
  world: World,
  journal: Journal,
  of: string,
  through: string,
): Promise<void> {
  const accounts = accountsOf(journal, `${of}-01`, through);
  const report = await sections(world, `clearing --month ${of}`);
  for (const { account = '', before, balance, received, paid_back: back } of report.accounts?.figures ?? []) {
    const [opening, , , closing] = accounts.get(account) ?? [];
    compare(`report clearing of ${of}, ${account}`, [before, balance], [opening, closing]);
    if (!cleared.test(account)) continue;
    const paid = journal.entries
      .filter(({ on, document }) => on.startsWith(of) && (payments.test(document) || account === '1790'))
      .map(
        ({ document, on, lines }) =>
          [
            `${document} ${on}`,
            lines
              .filter((line) => line.account === account)
              .reduce((sum, line) => sum.plus(line.amount.toFixed()), new Decimal(0)),
          ] as const,
      );
    const byDocument = [...Map.groupBy(paid, ([key]) => key).values()].map((each) =>
      each.reduce((sum, [, amount]) => sum.plus(amount), new Decimal(0)),
    );
    const sum = (isWanted: (amount: Decimal) => boolean) =>
      byDocument.filter(isWanted).reduce((all, amount) => all.plus(amount), new Decimal(0));
    const asked = [plain(sum((amount) => amount.isPositive())), plain(sum((amount) => amount.isNegative()).negated())];
    compare(`report clearing of ${of}, ${account}: received and paid back`, [received, back], asked);
  }
}

/** Open items by age, from the due dates of the clinic's invoices. */
async function compareReceivables(compare: Compare, world: World, journal: Journal): Promise<void> {
  const ages = ['not_due', 'days_1_30', 'days_31_60', 'days_61_90', 'days_over_90'];
  const open = new Map<number, Decimal>();
  for (const { on, lines } of journal.entries)
    for (const { role, amount, receivable } of lines)
      if (on <= monthEnd && role === 'receivable') {
        const id = Number(receivable?.[0]);
        open.set(id, (open.get(id) ?? new Decimal(0)).plus(amount.toFixed()));
      }
  const byAge = ages.map(() => new Decimal(0));
  for (const [id, amount] of open) {
    const { invoice_due_date: due } = world.sandbox.clinic.invoice(id);
    const late = due === null ? 0 : Math.round((Date.parse(monthEnd) - Date.parse(due)) / 86_400_000);
    const at = late <= 0 ? 0 : Math.min(4, Math.ceil(late / 30));
    byAge[at] = byAge[at]!.plus(amount);
  }
  const { receivables } = await sections(world, `receivables --as-of ${monthEnd}`);
  const names = Object.keys(receivables?.total ?? {}).filter((name) => name !== 'open');
  compare(
    'report receivables, by age',
    names.map((name) => receivables?.total[name]),
    byAge.map(plain),
  );
}

/** The trial balance of `reconcile`, and the balances in the checklist. */
async function compareReconciled(compare: Compare, world: World, journal: Journal): Promise<void> {
  const { stdout } = await world.run('reconcile --json');
  const { installations } = JSON.parse(stdout) as {
    installations: { ok: boolean; trial_balance: { account: string; balance: string }[] }[];
  };
  const [{ ok, trial_balance: found } = { ok: false, trial_balance: [] }] = installations;
  compare('reconcile, verdict', ok, true);
  const balances = (through: string) =>
    [...accountsOf(journal, addDays(through, 1), end)].map(([account]) => [
      account,
      accountsOf(journal, through, through).get(account)?.[3] ?? '0.00',
    ]);
  compare(
    'reconcile, trial balance',
    found.map(({ account, balance }) => [account, balance]).toSorted(),
    balances(end).toSorted(),
  );
  const checklist = JSON.parse((await world.run(`ledger close --through ${lastDay} --dry-run --json`)).stdout) as {
    installations: {
      checklist: {
        clearing: { accounts: { account: string; balance: string }[] };
        unused_prepayments: { accounts: { account: string; balance: string }[] };
      };
    }[];
  };
  const { clearing, unused_prepayments: unused } = checklist.installations[0]!.checklist;
  const at = accountsOf(journal, lastDay, lastDay);
  for (const { account, balance } of [...clearing.accounts, ...unused.accounts])
    compare(`the checklist, balance of ${account}`, balance, at.get(account)?.[3]);
  compare(
    'the checklist, accounts',
    clearing.accounts.length,
    [...at].filter(
      ([account, [, , , closing]]) =>
        cleared.test(account) && !['1710', '1715', '1900'].includes(account) && closing !== '0.00',
    ).length,
  );
}
