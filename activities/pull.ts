import type { PullContext, PullCounts, PullResult } from '../src/sync/context.ts';
import { walkInvoices } from '../src/sync/opening.ts';
import { pullPayments } from '../src/sync/payments.ts';
import { pullChanged } from '../src/sync/pull-changed.ts';
import { pullRows } from '../src/sync/pull-rows.ts';
import { refetchNeeds, refetchParts } from '../src/sync/refetch.ts';
import { pullSpan } from '../src/sync/replay/pull.ts';
import { completeScan, scanRows } from '../src/sync/row-scan.ts';
import { walkOnce } from '../src/sync/saved-walks.ts';
import { pullStream } from '../src/sync/streams.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { RecordKind } from '../src/terms.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { withLease } from './heartbeat.ts';
import { type SourceAccess, sourceAccess } from './source-access.ts';

export interface StreamReport {
  stream: RecordKind;
  seen: number;
  /** New or changed versions of records. */
  pulled: number;
}

export interface PullReport {
  streams: StreamReport[];
  api: ApiUse;
}

export function pullActivities(deps: ActivityDeps) {
  const withSource = (
    input: WindowInput,
    window: OpenWindow,
    pull: (access: SourceAccess) => Promise<StreamReport[]>,
  ): Promise<PullReport> =>
    withLease(deps, input, window, async (heartbeat, { transact }) => {
      const access = sourceAccess(deps, input, heartbeat, transact);
      return { streams: await pull(access), api: heartbeat.use() };
    });

  const stream = (kind: RecordKind) => (input: WindowInput, window: OpenWindow) =>
    withSource(input, window, async ({ context, ports }) => [
      reportOf(kind, await pullStream(context, kind, window, ports)),
    ]);

  return {
    pullInvoices: stream('invoice'),
    pullPrepayments: stream('prepayment'),
    pullPayments: stream('payment'),
    pullRows: stream('row'),

    /** Fetches again the parts of the next documents whose proofs failed. */
    async pullParts(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return withSource(input, window, async ({ context }) => {
        const reports = new Map<RecordKind, StreamReport>();
        await refetchParts(context, await refetchNeeds(context), (stream, { seen, pulled }) => {
          const before = reports.get(stream);
          reports.set(stream, {
            stream,
            seen: (before?.seen ?? 0) + seen,
            pulled: (before?.pulled ?? 0) + pulled,
          });
        });
        return [...reports.values()];
      });
    },

    /**
     * Pulls one list beside the live windows, whose cursors do not move. A replay pulls its interval; a backfill pulls
     * the whole list. A backfill that has read a list to its end does not read it again when it resumes.
     */
    async backfillStream(input: WindowInput, window: OpenWindow, stream: RecordKind): Promise<PullReport> {
      return withSource(input, window, async ({ context }) => {
        const { span, fromDate } = input;
        return [
          reportOf(stream, await (span ? pullSpan(context, stream, span) : walkWhole(context, stream, fromDate))),
        ];
      });
    },

    /** Scans all rows by id, in parallel to the other lists: each list has its own rate budget. */
    async scanRows(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return withSource(input, window, async ({ context }) => [reportOf('row', await scanRows(context))]);
    },

    /** Completes the row sets that a backfill's scan did not cover. Runs after all invoices are read. */
    async completeRows(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return withSource(input, window, async ({ context, ports }) => {
        await completeScan(context);
        return [reportOf('row', await pullRows(context, null, ports))];
      });
    },
  };
}

function walkWhole(context: PullContext, stream: RecordKind, fromDate: string | null): Promise<PullResult> {
  switch (stream) {
    case 'row':
      return scanRows(context);
    case 'invoice':
      return walkInvoices(context, fromDate);
    case 'payment':
      return walkOnce(context, stream, '', (left) => pullPayments(context, null, { left }));
    case 'prepayment':
      return walkOnce(context, stream, '', (left) => pullChanged(context, stream, null, { left }));
  }
}

export function reportOf(stream: RecordKind, { seen, pulled }: PullCounts): StreamReport {
  return { stream, seen, pulled };
}
