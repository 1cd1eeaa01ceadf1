import { z } from 'zod';
import type { LateDecisionKind } from '../../posting/types.ts';
import { amount, date } from '../../queries/answer.ts';
import type { ShownDecision } from '../../queries/shown-decision.ts';
import { documentKinds } from '../../terms.ts';
import { labels } from '../../texts/commands/labels.ts';
import { verdictTexts } from '../../texts/commands/reconcile.ts';
import { lateTexts, weighedTexts } from '../../texts/commands/results.ts';
import { count } from '../../wording/words.ts';
import { columns, heads } from '../render/text.ts';

/** The effects of a decision, shown before it is made. */
export const shownAnswer = z.strictObject({
  /** The hash for --shown. If the decision would have other effects, it is refused. */
  hash: z.string(),
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      currency: z.string(),
      /** The sums of each kind. Different kinds are never added up. */
      kinds: z.array(
        z.strictObject({ kind: z.enum(documentKinds), documents: z.number(), amount, vat: amount.nullable() }),
      ),
      documents: z.array(
        z.strictObject({
          id: z.string(),
          code: z.string(),
          date: date.nullable(),
          amount: amount.nullable(),
          vat: amount.nullable(),
          /** The day on which the next window posts; null if it posts nothing. */
          day: date.nullable(),
          /** Set if that day was closed before and is open again. */
          reopened: z.literal(true).optional(),
        }),
      ),
      /**
       * `posted` is true if the next window posts the effect. Otherwise it stays out of the books. Debits are positive.
       */
      effects: z.array(
        z.strictObject({
          posted: z.boolean(),
          account: z.string(),
          is_vat: z.boolean(),
          vat_period: z.string(),
          late: z.boolean(),
          amount,
        }),
      ),
    }),
  ),
});

/** The text lists at most this many documents of an installation; the JSON lists all. */
const listed = 20;

/** The effect of a decision as text: sums, documents, and the effect on each account and VAT period. */
export function shownText(decision: LateDecisionKind, { hash, installations }: ShownDecision): string {
  if (installations.length === 0) return weighedTexts.none;
  const parts = installations.map(({ installation, currency, kinds, documents, effects }) => {
    const sums = kinds.map(({ kind, documents: n, amount: of, vat }) => [
      ...[count(n, kind), of, vat === null ? '' : labels.vat({ amount: vat })],
    ]);
    const lines = documents
      .slice(0, listed)
      .map(({ id, date: dated, code, amount: of, vat, day }) => [
        ...[
          id,
          dated ?? labels.noDate,
          code,
          of ?? verdictTexts.amountUnknown,
          vat === null ? '' : labels.vat({ amount: vat }),
        ],
        day === null ? weighedTexts.notPosted : weighedTexts.postedOn({ day }),
      ]);
    const more = documents.length - lines.length;
    const table = (posted: boolean) => {
      const rows = effects
        .filter((each) => each.posted === posted)
        .map(({ account, is_vat: isVat, vat_period: period, late, amount: by }) => [
          ...[`${account}${isVat ? labels.vatAccount : ''}`, `${period}${late ? labels.late : ''}`, by],
        ]);
      if (rows.length === 0) return [];
      const title = posted ? weighedTexts.posted({ currency }) : weighedTexts.keptOut({ currency });
      return [title, ...indented(columns([heads('account', 'period', 'change'), ...rows], [2]))];
    };
    return [
      weighedTexts.title({ installation, documents: count(documents.length, 'document'), what: lateTexts[decision] }),
      ...indented(columns(sums, [1])),
      ...indented([...columns(lines, [3, 4]), ...(more > 0 ? [weighedTexts.more({ count: more })] : [])]),
      ...table(true),
      ...table(false),
      ...reopenedLines(documents),
    ].join('\n');
  });
  return [...parts, weighedTexts.hash({ hash })].join('\n\n');
}

/** A warning for each reopened day that a decision posts on. */
export function reopenedLines(
  documents: readonly Pick<ShownDecision['installations'][number]['documents'][number], 'day' | 'reopened'>[],
): string[] {
  const days = new Set(documents.flatMap(({ day, reopened }) => (day !== null && reopened ? [day] : [])));
  return [...days].sort().map((day) => weighedTexts.intoReopened({ day }));
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
