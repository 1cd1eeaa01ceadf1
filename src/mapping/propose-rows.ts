import { sum } from '../domain/money.ts';
import type { AccountNumber } from '../records/types.ts';
import type { OwedRole } from './owed.ts';
import { commented, groupBy, key, mark, money, oneLine, quoted, rowTally } from './propose-text.ts';
import type { RowUse } from './source-usage.ts';

/**
 * Proposes the `revenue` section, and rules for liabilities and for rows without an account number. Adds the marked
 * places to `toChoose`.
 */
export function revenueLines(
  rows: RowUse[],
  accounts: AccountNumber[],
  owed: ReadonlyMap<string, OwedRole>,
  toChoose: string[],
): string[] {
  const used = groupBy(rows, ({ account }) => account);
  const listed = groupBy(accounts, ({ number }) => number);
  const sold = new Map([...owed].filter(([, role]) => role !== 'prepayment_liability'));
  const numbers = [...new Set([...used.keys(), ...listed.keys()])].filter((number) => !sold.has(number)).sort();
  const of = (number: string) => {
    const uses = used.get(number);
    const names = describeAccounts(listed.get(number) ?? []);
    return `${names || 'not in the account number list'} · ${uses ? rowTally(uses) : 'not used so far'}`;
  };
  const lines = [
    '# Revenue by the account number of the row: `same` posts to that number itself; write another one instead.',
    numbers.length === 0 ? 'revenue: same' : 'revenue:',
    ...numbers.map((number) => {
      if (!owed.has(number)) return commented(`${key('  ', number)} same`, 19, of(number));
      toChoose.push(`revenue.${number}`);
      return commented(key('  ', number), 19, `${mark}: by its name prepayments, which are no revenue · ${of(number)}`);
    }),
  ];
  const nameless = rows.filter(({ account, hasNet }) => account === null && hasNet);
  if (sold.size > 0 || nameless.length > 0) lines.push('', 'revenue_rules:');
  if (sold.size > 0) {
    lines.push(
      '  # By their names these are gift cards and vouchers: their sale is owed until they are used, and is no revenue. One that is for a',
      '  # single rate of VAT is revenue when it is sold: move its account to `revenue`.',
      ...[...sold]
        .sort()
        .flatMap(([number, role]) => [
          commented(`  - when: {account: ${quoted(number)}}`, 29, of(number)),
          `    role: ${role}`,
        ]),
    );
  }
  if (nameless.length > 0) {
    toChoose.push(`revenue_rules.${sold.size}.account`);
    lines.push(
      '  # Rows that name no account number; better still, give their items one in the practice software.',
      '  - when: {account: null}',
      `    account:            # ${mark} · ${rowTally(nameless)}`,
    );
  }
  const dimensions = dimensionLines(rows);
  return dimensions.length > 0 ? [...lines, ...dimensions] : lines;
}

/** The descriptions of all accounts with one number, each with its department. */
function describeAccounts(accounts: AccountNumber[]): string {
  return accounts
    .map(({ description, departmentId, archived }) => {
      const notes = [
        ...(departmentId === null ? [] : [`department ${departmentId}`]),
        ...(archived ? ['archived'] : []),
      ];
      const name = oneLine(description ?? '') || 'no description';
      return notes.length > 0 ? `${name} (${notes.join(', ')})` : name;
    })
    .join(' / ');
}

function dimensionLines(rows: RowUse[]): string[] {
  const lines = [0, 1, 2].flatMap((index) => {
    const used = groupBy(rows, ({ dimensions }) => dimensions[index] ?? null);
    if (used.size === 0) return [];
    const values = [...used].sort(([a], [b]) => (a < b ? -1 : 1));
    const shown = values.map(([value, uses]) => `${oneLine(value)} (${rowTally(uses)})`);
    return [`#   dimension_${index + 1}: ${shown.join('; ')}`];
  });
  if (lines.length === 0) return [];
  return [
    '',
    '# Dimensions that rows carry; they are kept as tags, and a rule under `revenue_rules` can ask for them:',
    ...lines,
  ];
}

/** Proposes the `vat` section. Adds the marked places to `toChoose`. */
export function vatLines(rows: RowUse[], toChoose: string[]): string[] {
  const lines = [
    '# VAT by the name and rate of the group: `same` posts to the VAT group’s own account; write another one instead.',
    'vat:',
  ];
  const groups = groupBy(rows, ({ vat: { name } }) => name ?? '*');
  for (const [name, its] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const byRate = groupBy(its, ({ vat: { rate } }) => rate?.toFixed() ?? 'none');
    const taxed = [...byRate]
      .filter(([, uses]) => uses.some(({ hasVat }) => hasVat))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const untaxed = [...byRate].filter(([, uses]) => uses.every(({ hasVat }) => !hasVat));
    const called = name === '*' ? 'rows that name no VAT group' : oneLine(name);
    for (const [rate, uses] of untaxed) {
      const at = rate === 'none' ? 'no rate' : `${rate} %`;
      lines.push(`  # ${called} at ${at}: needs no VAT account · ${rowTally(uses)}`);
    }
    if (taxed.length === 0) continue;
    lines.push(name === '*' ? '  "*":                   # rows that name no VAT group' : key('  ', name));
    for (const [rate, uses] of taxed) {
      const at = rate === 'none' ? '*' : rate;
      const own = [...new Set(uses.flatMap(({ vat: { account } }) => account ?? []))].sort();
      const tax = `${rowTally(uses)}, VAT ${money(sum(uses.map(({ vatAmount }) => vatAmount)))}`;
      if (own.length === 1 && uses.every(({ vat: { account }, hasVat }) => account !== null || !hasVat)) {
        lines.push(commented(`${key('    ', at)} same`, 19, `own account ${own[0]} · ${tax}`));
      } else {
        toChoose.push(`vat.${name}.${at}`);
        const why = own.length > 1 ? `the source names ${own.join(' and ')}` : 'not every row names a VAT account';
        lines.push(commented(key('    ', at), 19, `${mark}: ${why} · ${tax}`));
      }
    }
  }
  if (lines.every((line) => line.startsWith('#') || line.startsWith('  #') || line === 'vat:')) {
    lines[1] = 'vat: same';
  }
  return lines;
}
