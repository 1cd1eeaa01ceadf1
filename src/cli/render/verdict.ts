import { z } from 'zod';
import type { Outside, OutsideFigure, OutsideReason } from '../../documents/outside-books.ts';
import * as answer from '../../queries/answer.ts';
import type { Verdict } from '../../queries/verdict.ts';
import { outsideText } from '../../reports/installation-report.ts';
import { fieldTitles, labels } from '../../texts/commands/labels.ts';
import { outsideReasons, verdictTexts as texts } from '../../texts/commands/reconcile.ts';
import { codeWord, count, type Field, type TimeText } from '../../wording/words.ts';
import { columns, heads, instant } from './text.ts';

const figure = z
  .strictObject({
    documents: z.number(),
    amount: answer.amount.nullable(),
    vat: answer.amount.nullable(),
    oldest: answer.date.nullable(),
    unknown: z.number(),
  })
  .meta({ id: 'figure' });
const ofKind = figure.extend({ reasons: z.record(z.string(), figure) }).optional();

/** Documents that are not in the books, by kind and reason. */
export const outsideAnswer = z
  .strictObject({ invoices: ofKind, payments: ofKind, prepayments: ofKind })
  .meta({ id: 'outside' });

/** The verdict on the books in `sync`, `backfill` and `status`. */
export const verdictAnswer = z
  .strictObject({
    reconciled: z
      .strictObject({ ok: z.boolean().nullable(), failing: z.array(z.string()), checked_at: answer.instant })
      .nullable(),
    complete: z.boolean(),
    outside: outsideAnswer,
    left_as_posted: outsideAnswer,
    empty: z.boolean(),
  })
  .meta({ id: 'verdict' });

/** The title of a verdict. Empty books never get the words of success. */
export function verdictTitle({ ok, complete, empty }: { ok: boolean; complete: boolean; empty: boolean }): string {
  if (empty && ok) return complete ? texts.empty : texts.emptyIncomplete;
  if (ok) return complete ? texts.titles.right : texts.titles.incomplete;
  return complete ? texts.titles.wrong : texts.titles.wrongIncomplete;
}

/** A table of the documents outside the books, by kind and reason. Amounts of different kinds are never added up. */
export function outsideTable(outside: Outside, currency: string): string[] {
  const rows = Object.entries(outside).flatMap(([kind, { reasons, ...all }]) => {
    const byReason = Object.entries(reasons) as [OutsideReason, OutsideFigure][];
    return [
      [codeWord(kind), ...cells(all)],
      ...byReason.map(([reason, figure]) => [`  ${outsideReasons[reason]}`, ...cells(figure)]),
    ];
  });
  if (rows.length === 0) return [];
  const [documents = '', amount = '', ...others] = heads('documents_of', 'amount', 'vat', 'oldest');
  return columns([['', documents, `${amount} ${currency}`, ...others, ''], ...rows], [1, 2, 3]);
}

function cells({ documents, amount, vat, oldest, unknown }: OutsideFigure): string[] {
  const unread = unknown === 0 ? '' : texts.amountsUnknown({ amounts: count(unknown, 'amount') });
  return [String(documents), amount ?? '-', vat ?? '-', oldest ?? '-', unread];
}

/** The verdict as two lines: whether the books are right, and whether they are complete. */
export function verdictFields(
  { reconciled, complete, outside, left_as_posted: left, empty }: Verdict,
  at: TimeText = instant,
): Field[] {
  const isWhole = complete ? completeText(empty) : texts.notInBooks({ documents: outsideText(outside) });
  const fields: Field[] = [
    [fieldTitles.reconciled, reconciledText(reconciled, empty, at)],
    [fieldTitles.complete, isWhole],
  ];
  if (Object.keys(left).length > 0) fields.push([fieldTitles.declined, texts.declined({ changes: outsideText(left) })]);
  return fields;
}

function completeText(empty: boolean): string {
  return empty ? texts.nothingWaits : labels.yes;
}

function reconciledText(reconciled: Verdict['reconciled'], empty: boolean, at: TimeText): string {
  if (empty) return texts.empty;
  if (reconciled === null) return texts.notChecked;
  if (reconciled.ok === null) {
    return texts.checkedBefore({ at: at(reconciled.checked_at) });
  }
  const checked = { at: at(reconciled.checked_at) };
  return reconciled.ok
    ? labels.yesAsOf(checked)
    : labels.noAsOf({ equations: reconciled.failing.join(', '), ...checked });
}
