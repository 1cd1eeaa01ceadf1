import { z } from 'zod';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { ErpCheck } from '../../queries/erp-check.ts';
import { checkWords } from '../../texts/commands/labels.ts';
import { erpCheckTexts as texts } from '../../texts/commands/mapping.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { count } from '../../wording/words.ts';

/** The checks in the ERP of each installation. */
export const erpChecksAnswer = z.array(
  z.strictObject({
    installation: z.number(),
    kind: z.string(),
    ok: z.boolean(),
    results: z.array(z.strictObject({ name: z.string(), ok: z.boolean(), message: z.string(), todo: z.string() })),
  }),
);

/** The JSON of `erp check` and `mapping check --erp`. */
export function erpChecksDocument(checks: readonly ErpCheck[]) {
  return checks.map(({ installation, kind, results }) => ({
    installation,
    kind,
    ok: results.every(({ ok }) => ok),
    results,
  }));
}

/** One line per check, and the next step for each fault. */
export function erpCheckText(check: ErpCheck): string {
  const { installation, kind, results } = visibleIn(check);
  const faults = results.filter(({ ok }) => !ok).length;
  const checks = count(results.length, 'check');
  const summary =
    results.length === 0
      ? texts.filesComplete({ installation, kind })
      : faults === 0
        ? texts.complete({ installation, kind, checks })
        : texts.faults({ installation, kind, faults: count(faults, 'fault'), checks });
  const width = Math.max(checkWords.ok.length, checkWords.fault.length);
  return [
    ...results.flatMap(({ name, ok, message, todo }) => [
      `${(ok ? checkWords.ok : checkWords.fault).padEnd(width)}  ${name}${message === '' ? '' : `: ${shown(message)}`}`,
      ...(ok || todo === '' ? [] : [`${' '.repeat(width)}    ${resultTexts.todo({ todo: shown(todo) })}`]),
    ]),
    summary,
  ].join('\n');
}
