import { z } from 'zod';
import { labelOf } from '../../domain/installation-name.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import * as answer from '../../queries/answer.ts';
import type { Verdict } from '../../queries/verdict.ts';
import { labels, fieldTitles as titles } from '../../texts/commands/labels.ts';
import { windowTexts as texts } from '../../texts/commands/windows.ts';
import type { WindowReport } from '../../windows/run-window.ts';
import type { TimeText } from '../../wording/words.ts';
import { count, type Field } from '../../wording/words.ts';
import type { LocalTimes } from '../books.ts';
import { fieldLines, instant, writtenBackText } from './text.ts';
import { verdictAnswer, verdictFields } from './verdict.ts';

const streamCounts = z.strictObject({
  invoices: z.number(),
  rows: z.number(),
  payments: z.number(),
  prepayments: z.number(),
});

/** A finished window. */
export const windowAnswer = z
  .strictObject({
    installation: z.number(),
    name: z.string().nullable().optional(),
    from: answer.instant.nullable(),
    to: answer.instant.nullable(),
    outcome: z.enum(['closed', 'failed']),
    seen: streamCounts,
    pulled: streamCounts,
    posted: z.number(),
    held: z.number(),
    delivered: z.number(),
    written_back: z.number(),
    written_back_unconfirmed: z.number().optional(),
    api: z.strictObject({
      requests: z.number(),
      weight: z.number(),
      throttled: z.number(),
      waited_seconds: z.number(),
    }),
    remarks: z.array(answer.remark).optional(),
    error: answer.plainError.optional(),
    verdict: verdictAnswer.optional(),
    head: z.strictObject({ seq: z.number(), hash: z.string() }).optional(),
  })
  .meta({ id: 'window' });

type Streams = WindowReport['seen'];

export interface Named {
  name?: string | null;
}

/** The installation's id and name. */
export function label({ installation, name = null }: Named & { installation: number }): string {
  return labelOf({ id: installation, name });
}

/** The JSON of `sync` (DESIGN "Commands"). */
export function windowsDocument(windows: (WindowReport & Named)[]) {
  return {
    windows: windows.map(({ failedToOpen, window: _id, ...shown }) =>
      failedToOpen ? { ...shown, error: failedToOpen } : shown,
    ),
  };
}

/**
 * A window as a block of lines: interval, counts, verdict on the books, the error with the next step if it failed, and
 * `more`.
 */
export function windowBlock(
  report: WindowReport & Named & { verdict?: Verdict },
  times: LocalTimes,
  more: readonly Field[] = [],
): string {
  const at: TimeText = (time) => times(report.installation, time);
  const window = visibleIn(report);
  const from = window.from ? at(window.from) : texts.beginning;
  const none = count(0, 'document');
  const fields: Field[] = [
    ...(window.to ? [[titles.interval, texts.interval({ from, to: at(window.to) })] as const] : []),
    [titles.seen, streams(window.seen)],
    [titles.pulled, streams(window.pulled)],
    [titles.posted, count(window.posted, 'entry')],
    [titles.held, window.held > 0 ? texts.seeProblems({ documents: count(window.held, 'document') }) : none],
    ...(window.delivered > 0 ? [[titles.delivered, count(window.delivered, 'entry')] as const] : []),
    [titles.writtenBack, writtenBackText(window.written_back, window.written_back_unconfirmed ?? 0)],
    [titles.api, apiUse(window)],
    ...(window.verdict ? verdictFields(window.verdict, at) : []),
    ...(window.remarks ?? []).map(({ message }): Field => [titles.remark, shown(message)]),
  ];
  if (window.error) fields.push([titles.error, shown(window.error.message)], [titles.todo, shown(window.error.todo)]);
  const head = texts.ended({ installation: label(window), outcome: outcome(window) });
  return [head, ...fieldLines([...fields, ...more])].join('\n');
}

/** A window as one line, for the daemon. */
export function windowLine(report: WindowReport & Named): string {
  const window = visibleIn(report);
  const { seen, pulled } = window;
  const all = (streamsOf: Streams) => Object.values(streamsOf).reduce((sum, n) => sum + n, 0);
  const parts = [
    `${window.to ? `${instant(window.to)}  ` : ''}${texts.line({ installation: label(window), outcome: outcome(window) })}`,
    texts.counts({
      ...{ seen: all(seen), pulled: all(pulled), posted: window.posted, held: window.held },
      ...{ writtenBack: window.written_back, unconfirmed: window.written_back_unconfirmed ?? 0 },
    }),
    apiUse(window),
  ];
  for (const { message } of window.remarks ?? []) parts.push(message);
  if (window.error) parts.push(window.error.message, texts.todo(window.error));
  if (window.head) parts.push(texts.head(window.head));
  return parts.join(' | ');
}

function outcome(window: WindowReport): string {
  return texts.outcomes[window.failedToOpen ? 'notOpened' : window.outcome];
}

function streams({ invoices, rows, payments, prepayments }: Streams): string {
  return [
    count(invoices, 'invoice'),
    count(rows, 'row'),
    count(payments, 'payment'),
    count(prepayments, 'prepayment'),
  ].join(', ');
}

/** A window's requests and their weight. */
export function apiUse({ api }: WindowReport): string {
  const parts = [count(api.requests, 'request'), labels.weight({ weight: api.weight })];
  if (api.throttled > 0) parts.push(texts.throttled({ times: api.throttled }));
  if (api.waited_seconds >= 1) parts.push(texts.waited({ seconds: Math.round(api.waited_seconds) }));
  return parts.join(', ');
}
