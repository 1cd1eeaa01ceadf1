import { z } from 'zod';
import { labelOf } from '../../domain/installation-name.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { Verdict } from '../../queries/verdict.ts';
import { windowTexts as texts } from '../../texts/commands/windows.ts';
import type { WindowReport } from '../../windows/run-window.ts';
import * as answer from '../answer.ts';
import type { LocalTimes } from '../books.ts';
import { count, instant, type TimeText, writtenBackText } from './text.ts';
import { verdictAnswer, verdictLines } from './verdict.ts';

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

/** A window as a block of lines: interval, counts, verdict on the books, and the error with the next step if it failed. */
export function windowBlock(report: WindowReport & Named & { verdict?: Verdict }, times: LocalTimes): string {
  const at: TimeText = (time) => times(report.installation, time);
  const window = visibleIn(report);
  const lines = [`Installation ${label(window)}: ${outcome(window)}`];
  if (window.to)
    lines.push(
      `  interval      ${texts.interval({ from: window.from ? at(window.from) : texts.beginning, to: at(window.to) })}`,
    );
  lines.push(
    `  seen          ${streams(window.seen)}`,
    `  pulled        ${streams(window.pulled)}`,
    `  posted        ${count(window.posted, 'entry', 'entries')}`,
    `  held          ${window.held > 0 ? texts.seeProblems({ documents: count(window.held, 'document') }) : count(0, 'document')}`,
    ...(window.delivered > 0 ? [`  delivered     ${count(window.delivered, 'entry', 'entries')}`] : []),
    `  written back  ${writtenBackText(window.written_back, window.written_back_unconfirmed ?? 0)}`,
    `  API           ${apiUse(window)}`,
    ...(window.verdict ? verdictLines(window.verdict, at) : []),
  );
  for (const { message } of window.remarks ?? []) lines.push(`  remark        ${shown(message)}`);
  if (window.error)
    lines.push(`  error         ${shown(window.error.message)}`, `  what to do    ${shown(window.error.todo)}`);
  return lines.join('\n');
}

/** A window as one line, for the daemon. */
export function windowLine(report: WindowReport & Named): string {
  const window = visibleIn(report);
  const { seen, pulled } = window;
  const all = (streamsOf: Streams) => Object.values(streamsOf).reduce((sum, n) => sum + n, 0);
  const parts = [
    `${window.to ? `${instant(window.to)}  ` : ''}installation ${label(window)} ${outcome(window)}`,
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
  const parts = [count(api.requests, 'request'), `weight ${api.weight}`];
  if (api.throttled > 0) parts.push(texts.throttled({ times: api.throttled }));
  if (api.waited_seconds >= 1) parts.push(texts.waited({ seconds: Math.round(api.waited_seconds) }));
  return parts.join(', ');
}
