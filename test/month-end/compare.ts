// Compares the reports of a month with figures computed from the clinic's records. Each difference is a line.

import { Decimal } from 'decimal.js';
import type { SourceFigures } from '../support/source-figures.ts';
import type { Variant } from './variant.ts';
import { installation, type World } from './world.ts';

/** A section of a report in `--json`. */
interface Section {
  figures: ({ documents: Record<string, string>[] } & Record<string, string>)[];
  total: Record<string, string>;
}

export type Sections = Record<string, Section>;

/** The expected books. */
export interface Expected {
  /** The figures of the records at the first close of the month. */
  closed: SourceFigures;
  /** The figures of the current records. */
  now: SourceFigures;
  /** The invoices that were posted after the close on their date, and those that were redated to the next month. */
  asDated: number[];
  redated: number[];
}

export const month = '2025-10';
export const monthEnd = '2025-10-31';
const nextMonth = '2025-11';
const nextMonthEnd = '2025-11-30';
const euGroup = 'EU sales 0 %';

/** Compares the reports of October and November. Returns the differences. */
export async function compareReports(world: World, expected: Expected, { vat: method }: Variant): Promise<string[]> {
  const { now, redated } = expected;
  const different: string[] = [];
  const compare = (what: string, got: unknown, asked: unknown) => {
    const [mine, theirs] = [textOf(got), textOf(asked)];
    if (mine !== theirs) different.push(`${what}\n    report: ${mine}\n    source: ${theirs}`);
  };
  const report = (line: string) => sections(world, line);

  if (method === 'accrual') await compareVatReports(compare, report, expected);

  const eu = await report(`eu-sales --month ${month}`);
  const buyers = rowsOf(eu, 'eu_sales').map((each): [string, string] => [each.vat_number ?? '', each.base ?? '']);
  compare('report eu-sales', buyers.toSorted(), [...now.salesTo(month, euGroup)].toSorted());

  const books = [
    { through: monthEnd, without: redated },
    { through: nextMonthEnd, without: [] },
  ];
  for (const { through, without } of books) {
    const { receivables } = await report(`receivables --as-of ${through}`);
    const items = receivables?.figures.flatMap(({ customer, documents }) =>
      documents.map(({ document, open }) => `${document} of ${customer}: ${open}`),
    );
    const asked = now.openItems(through).filter(({ invoice }) => !without.includes(invoice));
    const parties = asked.map(({ invoice, client, open }) => `invoice ${invoice} of ${partyOf(client)}: ${open}`);
    compare(`report receivables at ${through}`, items?.toSorted(), parties.toSorted());
    compare(`report receivables at ${through}, total`, receivables?.total.open, total(asked.map(({ open }) => open)));
  }

  const clearing = rowsOf(await report(`clearing --month ${month}`), 'clearing');
  const received = new Map<string, Decimal>();
  for (const { payment_type, date, open = '0' } of clearing) {
    if (payment_type === null) continue;
    const key = `${payment_type} ${date}`;
    received.set(key, (received.get(key) ?? new Decimal(0)).plus(open));
  }
  const days = [...received].filter(([, sum]) => !sum.isZero()).map(([key, sum]) => [key, sum.toFixed(2)]);
  compare('report clearing', days.toSorted(), [...now.received(month)].toSorted());

  const prepayments = rowsOf(await report(`prepayments --as-of ${monthEnd}`), 'prepayments');
  compare(
    'report prepayments',
    prepayments
      .map(({ prepayment, customer, date_received, received, used, refunded, unused }) => ({
        ...{ prepayment, customer, date_received, received, used, refunded, unused },
      }))
      .toSorted(byText),
    [...now.prepayments(monthEnd)]
      .map(([prepayment, { client, day, received, used, refunded, unused }]) => ({
        ...{ prepayment, customer: partyOf(client), date_received: day, received, used, refunded, unused },
      }))
      .toSorted(byText),
  );

  const vouchers = rowsOf(await report(`vouchers --as-of ${monthEnd}`), 'vouchers');
  compare(
    'report vouchers',
    vouchers.map(({ role, month: of, sold, redeemed }) => [role, of, { sold, redeemed }]).toSorted(),
    [...now.giftCards(monthEnd)].map(([of, figures]) => ['gift_card_liability', of, figures]).toSorted(),
  );
  const { vat_not_due: notDue, ...roles } = await exported(world);
  const vat = total([roles.vat ?? '', notDue ?? '']);
  compare('export, balances by role', { ...roles, vat }, balances(now));
  return different;
}

/** With VAT on payment, the records of the clinic do not show the VAT of a month. The expected journal does. */
async function compareVatReports(
  compare: Compare,
  report: (line: string) => Promise<Sections>,
  { closed, now, asDated, redated }: Expected,
): Promise<void> {
  const vat = await report(`vat --month ${month}`);
  compareVat(compare, vat, closed);
  compare('report vat, late items of October', lateOf(vat), closedChanges(now, closed, asDated));
  const next = await report(`vat --month ${nextMonth}`);
  compareParts(compare, 'October', vat);
  compareParts(compare, 'November', next);
  compare('report vat of November, on time', next.vat?.figures.length, 0);
  compare('report vat of November, late items', lateOf(next), closedChanges(now, closed, redated));
}

/**
 * In a VAT report, each figure must equal the source's figure plus the difference and the part that is not compared.
 */
function compareParts(compare: Compare, of: string, report: Sections): void {
  for (const [section, { figures, total: sum }] of Object.entries(report))
    for (const figure of [...figures, sum])
      for (const name of ['base', 'tax']) {
        const parts = [`source_${name}`, `${name}_difference`, `${name}_not_compared`].map(
          (part) => figure[part] ?? '',
        );
        const explained = parts.reduce((all, part) => all.plus(part), new Decimal(0)).toFixed();
        compare(
          `report vat of ${of}, ${section}: parts of ${name}`,
          explained,
          new Decimal(figure[name] ?? 0).toFixed(),
        );
      }
}

/** Lines on time must equal the records at the close: VAT to the cent, and each base within a cent per invoice. */
function compareVat(compare: Compare, { vat }: Sections, closed: SourceFigures): void {
  compare('report vat, total VAT', vat?.total.tax, closed.totalVat(month));
  const asked = closed.vat(month);
  const shown = new Map(vat?.figures.map((each) => [`${each.group} ${each.rate}`, each]));
  const groups = [...asked].filter(([, { base, tax }]) => base !== '0.00' || tax !== '0.00').map(([key]) => key);
  compare('report vat, groups', [...shown.keys()].toSorted(), groups.toSorted());
  for (const key of groups) {
    const [mine, theirs] = [shown.get(key), asked.get(key)];
    const cents = new Decimal(mine?.documents.length ?? 0).div(100);
    for (const name of ['base', 'tax'] as const) {
      const difference = new Decimal(mine?.[name] ?? 0).minus(theirs?.[name] ?? 0).abs();
      if (difference.greaterThan(cents)) compare(`report vat, ${name} of ${key}`, mine?.[name], theirs?.[name]);
    }
  }
}

type Compare = (what: string, got: unknown, asked: unknown) => void;

const lateOf = ({ late }: Sections) =>
  late?.figures.map(({ period, group, rate, base, tax }) => [`${period} ${group} ${rate}`, { base, tax }]).toSorted();

const closedChanges = (now: SourceFigures, closed: SourceFigures, invoices: number[]) =>
  [...now.vatChanges(closed, invoices)].toSorted();

const byText = (a: unknown, b: unknown) => (textOf(a) < textOf(b) ? -1 : 1);

const rowsOf = (of: Sections, name: string) => of[name]?.figures ?? [];

const partyOf = (client: number | null) => (client === null ? 'CASH' : `client:${client}`);

/** The expected balances, debits positive, from the source's records of all days. */
function balances(now: SourceFigures): Record<string, string> {
  const end = '9999-12-31';
  const cards = [...now.giftCards(end).values()].flatMap(({ sold, redeemed }) => [redeemed, `-${sold}`]);
  const unused = [...now.prepayments(end).values()].map(({ unused: left }) => `-${left}`);
  return {
    receivable: total(now.openItems(end).map(({ open }) => open)),
    prepayment_liability: total(unused),
    gift_card_liability: total(cards),
    vat: total([`-${now.totalVat('')}`]),
  };
}

/** The same balances, added up from the exported lines of all entries. */
export async function exported(world: World, roles = exportedRoles): Promise<Record<string, string>> {
  const { stdout } = await world.run('export --format csv --documents');
  const [header = [], ...lines] = stdout.trimEnd().split('\r\n').map(cellsOf);
  const [role, amount] = [header.indexOf('role'), header.indexOf('amount')];
  const of = (wanted: string) => total(lines.flatMap((cells) => (cells[role] === wanted ? (cells[amount] ?? '') : [])));
  return Object.fromEntries(roles.map((name) => [name, of(name)]));
}

const exportedRoles = ['receivable', 'prepayment_liability', 'gift_card_liability', 'vat', 'vat_not_due'];

/** The cells of a CSV line; quoted cells may contain commas. */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** The sections of a report of the played clinic. */
export async function sections(world: World, line: string): Promise<Sections> {
  const { code, stdout, stderr } = await world.run(`report ${line} --json`);
  if (code !== 0) throw new Error(`report ${line} ended with ${code}: ${stderr}`);
  const { installations } = JSON.parse(stdout) as { installations: { installation: number; sections: Sections }[] };
  const own = installations.find((each) => each.installation === installation);
  if (!own) throw new Error(`report ${line} has nothing of installation ${installation}`);
  return own.sections;
}

function total(amounts: readonly string[]): string {
  const sum = amounts.reduce((all, amount) => all.plus(amount.replace('--', '')), new Decimal(0));
  return sum.isZero() ? '0.00' : sum.toFixed(2);
}

const textOf = (value: unknown) => JSON.stringify(value) ?? 'nothing';
