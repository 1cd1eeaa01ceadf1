import { sum } from '../domain/money.ts';
import type { AccountNumber } from '../records/types.ts';
import { toChoose as mark, proposalTexts as texts } from '../texts/mapping/proposal.ts';
import type { OwedRole } from './owed.ts';
import { commented, groupBy, key, money, oneLine, quoted, rowTally } from './propose-text.ts';
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
    return `${names || texts.notInList} · ${uses ? rowTally(uses) : texts.notUsed}`;
  };
  const lines = [
    `# ${texts.revenue}`,
    numbers.length === 0 ? 'revenue: same' : 'revenue:',
    ...numbers.map((number) => {
      if (!owed.has(number)) return commented(`${key('  ', number)} same`, 19, of(number));
      toChoose.push(`revenue.${number}`);
      return commented(key('  ', number), 19, texts.prepayments({ account: of(number) }));
    }),
  ];
  const nameless = rows.filter(({ account, hasNet }) => account === null && hasNet);
  if (sold.size > 0 || nameless.length > 0) lines.push('', 'revenue_rules:');
  if (sold.size > 0) {
    lines.push(
      ...texts.owed.map((line) => `  # ${line}`),
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
      `  # ${texts.noAccount}`,
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
        ...(departmentId === null ? [] : [texts.department({ id: departmentId })]),
        ...(archived ? [texts.archived] : []),
      ];
      const name = oneLine(description ?? '') || texts.noDescription;
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
  return ['', `# ${texts.dimensions}`, ...lines];
}

/** Proposes the `vat` section. Adds the marked places to `toChoose`. */
export function vatLines(rows: RowUse[], toChoose: string[]): string[] {
  const lines = [`# ${texts.vat}`, 'vat:'];
  const groups = groupBy(rows, ({ vat: { name } }) => name ?? '*');
  for (const [name, its] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const byRate = groupBy(its, ({ vat: { rate } }) => rate?.toFixed() ?? 'none');
    const taxed = [...byRate]
      .filter(([, uses]) => uses.some(({ hasVat }) => hasVat))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const untaxed = [...byRate].filter(([, uses]) => uses.every(({ hasVat }) => !hasVat));
    const called = name === '*' ? texts.noVatGroup : oneLine(name);
    for (const [rate, uses] of untaxed) {
      const at = rate === 'none' ? texts.noRate : texts.rate({ rate });
      lines.push(`  # ${texts.noVatAccount({ group: called, rate: at, rows: rowTally(uses) })}`);
    }
    if (taxed.length === 0) continue;
    lines.push(name === '*' ? `  "*":                   # ${texts.noVatGroup}` : key('  ', name));
    for (const [rate, uses] of taxed) {
      const at = rate === 'none' ? '*' : rate;
      const own = [...new Set(uses.flatMap(({ vat: { account } }) => account ?? []))].sort();
      const tax = texts.withVat({ rows: rowTally(uses), vat: money(sum(uses.map(({ vatAmount }) => vatAmount))) });
      if (own.length === 1 && uses.every(({ vat: { account }, hasVat }) => account !== null || !hasVat)) {
        lines.push(commented(`${key('    ', at)} same`, 19, texts.ownAccount({ account: String(own[0]), rows: tax })));
      } else {
        toChoose.push(`vat.${name}.${at}`);
        const why = own.length > 1 ? texts.severalAccounts({ accounts: own.join(' and ') }) : texts.accountMissing;
        lines.push(commented(key('    ', at), 19, texts.chooseVat({ why, rows: tax })));
      }
    }
  }
  if (lines.every((line) => line.startsWith('#') || line.startsWith('  #') || line === 'vat:')) {
    lines[1] = 'vat: same';
  }
  return lines;
}
