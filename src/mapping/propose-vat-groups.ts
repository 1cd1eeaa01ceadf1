import { zero } from '../domain/money.ts';
import { groupBy, mark, quoted, rowTally } from './propose-text.ts';
import type { RowUse } from './source-usage.ts';

/**
 * Proposes the `vat_groups` section. A group with a rate is proposed as domestic. Only the accountant knows the kind of
 * a group without VAT, so its line is a marked comment, and its place is added to `toChoose`. A missing line holds no
 * document: reports show the group without a kind.
 */
export function vatGroupLines(rows: RowUse[], toChoose: string[]): string[] {
  const lines = [
    '# What each VAT group is to the VAT return: domestic, reverse_charge, eu_goods, eu_services, export, exempt or outside. `from: 2026-01-01` and',
    '# `to:` say on which days it is valid. Nothing is held for a line that is missing, but the reports do not know what its sales are.',
  ];
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
      proposed.push(
        `  # - {${group}, rate: ${rate}, kind: }   # ${mark} the kind, and take the first # away · ${rowTally(its)}`,
      );
    }
  }
  const isEmpty = proposed.every((line) => line.startsWith('  #'));
  return [...lines, isEmpty ? 'vat_groups: []' : 'vat_groups:', ...proposed];
}
