import { signed } from '../../domain/entry.ts';
import { formatMoney } from '../../domain/money.ts';
import type { LineRole } from '../../terms.ts';
import { accountType, type Fact, oneLine } from './exported-unit.ts';
import type { ExportFormat } from './format.ts';

const typeLetters = { asset: 'A', liability: 'L', income: 'R', expense: 'X' } as const;

/**
 * An hledger journal that `hledger check --strict` accepts: commodities and accounts are declared. An account is the ERP's
 * number, then the role, so that `hledger balance --depth 1` is the trial balance.
 */
export const hledger: ExportFormat = {
  head: ({ commodities, accounts }) =>
    [
      'decimal-mark .',
      // hledger demands a decimal mark even for a currency without decimals.
      ...commodities.map(({ currency, decimals }) => `commodity ${currency} 1000.${'0'.repeat(decimals)}`),
      ...accounts.map(
        ({ account, role }) => `account ${accountName(account, role)}  ; type:${typeLetters[accountType(role)]}`,
      ),
      '',
    ].join('\n'),

  comment: (text) => `; ${text}\n`,

  entry: (entry, { currency, decimals }) => {
    const lines = entry.lines.map((line) => {
      const posting = `    ${accountName(line.account, line.role)}  ${currency} ${formatMoney(signed(line), decimals)}`;
      return `${posting}  ; ${tags(line.facts)}`;
    });
    const description = oneLine(entry.description).replaceAll(';', ',');
    const head = `${entry.date} (${entry.id}) ${description}`.trimEnd();
    return ['', head, `    ; ${tags(entry.facts)}`, ...lines, ''].join('\n');
  },
};

function tags(facts: Fact[]): string {
  return facts.map(([name, value]) => `${name}:${tagValue(value)}`).join(', ');
}

/** A comma ends a tag, and a date in brackets would move the posting; hledger has no escape for either. */
function tagValue(value: string): string {
  return oneLine(value)
    .replace(/[,;]+ ?/g, ' ')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .trim();
}

/** Percent-encodes characters that hledger interprets, so that two accounts never become one. */
function accountName(account: string, role: LineRole): string {
  const code = account.replace(/[^\p{L}\p{N}._/-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  return `${code}:${role}`;
}
