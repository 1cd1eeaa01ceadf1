import { basename } from 'node:path';
import { z } from 'zod';
import type { CaseResult } from '../../bookkeeping/run-specs.ts';
import type { Money } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { ChartFault } from '../../mapping/check-chart.ts';
import { amount } from '../../queries/answer.ts';
import { type MappingComparison, remarksOf } from '../../queries/mapping-check.ts';
import { labels } from '../../texts/commands/labels.ts';
import { mappingCheckTexts as texts } from '../../texts/commands/mapping.ts';
import { count } from '../../wording/words.ts';
import { heads, table } from './text.ts';

const sums = { net: amount.nullable(), vat: amount.nullable(), gross: amount };

export const comparisonsAnswer = {
  /** Installations whose source was not read yet, so that nothing is compared. */
  not_loaded: z.array(z.number()),
  lacks: z.array(
    z.strictObject({
      installation: z.number(),
      code: z.string(),
      message: z.string(),
      count: z.number(),
      ...sums,
      departments: z.array(z.number().nullable()),
      uses: z.array(z.strictObject({ what: z.string(), count: z.number(), gross: amount })),
    }),
  ),
  remarks: z.array(
    z.strictObject({
      installation: z.number(),
      message: z.string(),
      count: z.number(),
      net: amount,
      unit: z.enum(['row', 'payment']),
    }),
  ),
};

/** The fields `lacks` and `remarks` of `mapping check --json`. */
export function comparisonsDocument(comparisons: MappingComparison[]) {
  return {
    not_loaded: comparisons.flatMap(({ installation, isLoaded }) => (isLoaded ? [] : [installation])),
    lacks: comparisons.flatMap(({ installation, gaps }) =>
      gaps.map((gap) => ({
        installation,
        ...gap,
        net: gap.net?.toFixed() ?? null,
        vat: gap.vat?.toFixed() ?? null,
        gross: gap.gross.toFixed(),
        uses: gap.uses.map((use) => ({ ...use, gross: use.gross.toFixed() })),
      })),
    ),
    remarks: comparisons.flatMap((comparison) =>
      remarksOf(comparison).map((value) => ({
        installation: comparison.installation,
        ...value,
        net: value.net.toFixed(),
      })),
    ),
  };
}

/** The results of the cases of a mapping file. */
export function specsText(path: string, results: CaseResult[] | null): string {
  const cases = visibleIn(results);
  const file = basename(path);
  if (cases === null) return texts.noCases({ file });
  const failed = cases.filter(({ ok }) => !ok);
  if (failed.length === 0) return texts.casesPass({ cases: count(cases.length, 'case'), file });
  return [
    texts.casesFail({ failed: failed.length, cases: count(cases.length, 'case'), file }),
    ...failed.flatMap(({ name, differences }) => [`  ${name}`, ...differences.map((line) => `    ${line}`)]),
  ].join('\n');
}

/** The accounts that are missing in the chart or wrong there, and the warnings. */
export function chartText(
  chart: { path: string; size: number } | null,
  faults: readonly ChartFault[],
  warnings: readonly string[],
): string[] {
  const safe = visibleIn({ faults, warnings });
  const found =
    chart === null
      ? []
      : faults.length === 0
        ? [texts.chartAgrees({ chart: basename(chart.path) })]
        : [
            texts.chartDiffers({ accounts: count(faults.length, 'account'), chart: basename(chart.path) }),
            ...safe.faults.map(({ path, message }) => `  ${path}: ${message}`),
          ];
  return [...found, ...safe.warnings.map((warning) => texts.warning({ warning: shown(warning) }))];
}

/** Number of uses that are shown per gap. The JSON contains all. */
const shownUses = 5;

/** The values of the source without an account in the mapping, with the places where they are used. */
export function comparisonText(comparison: MappingComparison): string {
  const { installation, gaps } = visibleIn(comparison);
  const remarks = visibleIn(remarksOf(comparison));
  const lines: string[] = [];
  if (!comparison.isLoaded) lines.push(texts.notLoaded({ installation }));
  else if (gaps.length === 0) {
    const isOwed = comparison.owed.found.length > 0;
    lines.push(isOwed ? texts.completeButOwed({ installation }) : texts.complete({ installation }));
  } else {
    const amounts = gaps.flatMap(({ net, vat, gross, uses }) => [net, vat, gross, ...uses.map((use) => use.gross)]);
    // All amounts get the decimals of the most precise one: the column is aligned, and no amount is rounded.
    const decimals = Math.max(2, ...amounts.map((each) => each?.decimalPlaces() ?? 0));
    const amount = (money: Money | null) => money?.toFixed(decimals).padStart(decimals + 10) ?? '';
    const rows = gaps.flatMap((gap) => {
      const hidden = gap.uses.length - shownUses;
      return [
        [gap.count, amount(gap.net), amount(gap.vat), amount(gap.gross), gap.code, gap.message],
        ...gap.uses.slice(0, shownUses).map((use) => [use.count, '', '', amount(use.gross), '', `  ${use.what}`]),
        ...(hidden > 0 ? [['', '', '', '', '', texts.more({ hidden })]] : []),
      ];
    });
    lines.push(
      texts.incomplete({ installation }),
      table([...heads('records', 'net', 'vat', 'gross', 'code'), texts.missing], rows),
    );
  }
  for (const { message, count: records, net, unit } of remarks) {
    const amount = unit === 'row' ? labels.net({ amount: net.toFixed() }) : net.toFixed();
    lines.push(texts.remark({ installation, message, records: count(records, unit), amount }));
  }
  if (comparison.isLoaded && !comparison.owed.names_known) {
    lines.push(texts.namesUnknown({ installation }));
  }
  return lines.join('\n');
}
