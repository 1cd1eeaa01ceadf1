import { zero } from '../domain/money.ts';
import { proposalTexts as texts } from '../texts/mapping/proposal.ts';
import { groupBy, quoted, rowTally } from './propose-text.ts';
import type { RowUse } from './source-usage.ts';

/**
 * Proposes the `vat_groups` section. A group with a rate is proposed as domestic. Only the accountant knows the kind of
 * a group without VAT, so its line is a marked comment, and its place is added to `toChoose`. A missing line holds no
 * document: reports show the group without a kind.
 */
export function vatGroupLines(rows: RowUse[], toChoose: string[]): string[] {
  const lines = texts.vatGroups.map((line) => `# ${line}`);
  const proposed: string[] = [];
  const groups = groupBy(rows, ({ vat: { name, rate } }) => JSON.stringify([name, rate?.toFixed() ?? null]));
  for (const [, its] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { name, rate: percent } = (its[0] as (typeof rows)[number]).vat;
    const rate = percent?.toFixed() ?? null;
    const group = name === null ? 'group: null' : `group: ${quoted(name)}`;
    const isTaxed = its.some(({ vat }) => !(vat.rate ?? zero).isZero());
    if (isTaxed) proposed.push(`  - {${group}, rate: ${rate}, kind: domestic}   # ${rowTally(its)}`);
    else {
      toChoose.push(`vat_groups.${name ?? 'none'}`);
      proposed.push(`  # - {${group}, rate: ${rate}, kind: }   # ${texts.chooseKind({ rows: rowTally(its) })}`);
    }
  }
  const isEmpty = proposed.every((line) => line.startsWith('  #'));
  return [...lines, isEmpty ? 'vat_groups: []' : 'vat_groups:', ...proposed];
}
