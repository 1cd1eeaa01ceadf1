import { signed } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { LineRole } from '../../terms.ts';
import { accountType, type Fact, oneLine } from './exported-unit.ts';
import type { ExportFormat } from './format.ts';

const roots = { asset: 'Assets', liability: 'Liabilities', income: 'Income', expense: 'Expenses' } as const;

/**
 * A beancount ledger. Beancount requires one of five root names before the account number, and the currency after the
 * amount. The rest is as in the hledger journal.
 */
export const beancount: ExportFormat = {
  head: ({ title, commodities, accounts }) =>
    [
      `option "title" ${quoted(title)}`,
      // Fava shows balances in these currencies.
      ...commodities.map(({ currency }) => `option "operating_currency" "${currency}"`),
      '',
      ...accounts.map(
        ({ account, role, currencies, firstDate }) =>
          `${firstDate} open ${accountName(account, role)} ${currencies.join(',')}`,
      ),
      '',
    ].join('\n'),

  comment: (text) => `; ${text}\n`,

  entry: (entry, { currency, decimals }) => {
    const head = `${entry.date} * ${quoted(entry.description)} ^${entry.id}`;
    const facts: Fact[] = [['code', entry.id], ...entry.facts];
    const lines = entry.lines.flatMap((line) => [
      `  ${accountName(line.account, line.role)}  ${formatMoney(signed(line), decimals)} ${currency}`,
      ...metadata(line.facts, '    '),
    ]);
    return ['', head, ...metadata(facts, '  '), ...lines, ''].join('\n');
  },
};

function metadata(facts: Fact[], indent: string): string[] {
  return facts.map(([name, value]) => `${indent}${name}: ${quoted(value)}`);
}

function quoted(text: string): string {
  return `"${oneLine(text).replace(/["\\]/g, '\\$&')}"`;
}

/**
 * In beancount, a part of an account name begins with a capital or a digit and contains only letters, digits and
 * hyphens.
 */
function accountName(account: string, role: LineRole): string {
  const code = account.replace(
    /[^A-Za-z0-9-]/gu,
    (character) => `-U${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}-`,
  );
  const name = role.replaceAll('_', '-');
  const root = roots[accountType(role)];
  return `${root}:${/^[A-Z0-9]/.test(code) ? code : `X${code}`}:${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
