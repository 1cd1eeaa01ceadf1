import type { Line } from '../../../domain/entry.ts';
import { formatMoney, type Money, sum } from '../../../domain/money.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { ruleNames } from '../../../texts/console/documents.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
import { roleName } from '../../../wording/cells.ts';
import { carries } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { table } from '../../parts/table.ts';

/** A line of an entry, or of a daily summary, with what its page knows besides. */
export interface ShownLine {
  line: Pick<Line, 'account' | 'role' | 'side' | 'amount' | 'rule'> & Parameters<typeof carries>[0];
  name: string | null;
  /** The line of the mapping that gave the account, and the party. Absent for a daily summary. */
  mappedBy?: string;
  party?: string | null;
  /** The number of entries in the line of a daily summary. */
  entries?: number;
}

/** The lines with the totals of both sides. */
export function lineTable(lines: readonly ShownLine[], decimals: number): Node {
  const ofEntry = lines.some(({ mappedBy }) => mappedBy !== undefined);
  const totalOf = (side: string) =>
    formatMoney(sum(lines.flatMap(({ line }): Money[] => (line.side === side ? [line.amount] : []))), decimals);
  const number = (title: string) => ({ title, isNumber: true });
  return table({
    columns: [
      ...[{ title: heads.account }, { title: heads.name }, { title: heads.role }],
      ...[number(heads.debit), number(heads.credit), { title: heads.rule }],
      ...(ofEntry ? [{ title: heads.mapped_by }, { title: heads.party }] : []),
      { title: heads.carries },
      ...(ofEntry ? [] : [number(heads.entries)]),
    ],
    rows: lines.map(({ line, name, mappedBy, party, entries }): Content[] => {
      const amount = formatMoney(line.amount, decimals);
      return [
        ...[line.account, name ?? '', roleName(line.role)],
        ...(line.side === 'debit' ? [amount, ''] : ['', amount]),
        html`${ruleName(line.rule)} <span class="id">${line.rule}</span>`,
        ...(ofEntry ? [mappedBy, party ?? ''] : []),
        carries(line, decimals),
        ...(ofEntry ? [] : [entries]),
      ];
    }),
    total: [consoleTexts.total, '', '', totalOf('debit'), totalOf('credit'), ...lastCells(ofEntry)],
  });
}

function ruleName(rule: string): string {
  return Object.hasOwn(ruleNames, rule) ? ruleNames[rule as keyof typeof ruleNames] : '';
}

/** The empty cells of the total. */
function lastCells(ofEntry: boolean): string[] {
  return ofEntry ? ['', '', '', ''] : ['', '', ''];
}
