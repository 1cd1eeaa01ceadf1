import type { PracticeClient } from '../src/practice/client.ts';
import { partsBatch, pullParts, type RefetchNeed } from '../src/sync/parts.ts';
import { nextPaymentCursor, type PullContext, type PullResult, pullChanged, pullPayments } from '../src/sync/pull.ts';
import { pullRows, scanRows } from '../src/sync/rows.ts';
import { moveCursor, type OpenWindow, readCursors, type StreamCursors } from '../src/sync/window.ts';
import type { RecordKind } from '../src/terms.ts';
import { ownEchoes } from '../src/writeback/store.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf, type Liveness, ownWorkflow } from './context.ts';

export interface PullReport {
  streams: { stream: RecordKind; seen: number; pulled: number }[];
  api: ApiUse;
}

/** Live windows go before backfills in the budget (DESIGN "Rate budget"). */
export const priorities = { window: 1, backfill: 5 } as const;

const streamNames = { invoice: 'invoices', row: 'rows', payment: 'payments', prepayment: 'prepayments' } as const;

export async function pullContext(
  deps: ActivityDeps,
  input: WindowInput,
  liveness: Liveness,
): Promise<{ context: PullContext; client: PracticeClient; use: () => ApiUse }> {
  const installation = installationOf(deps, input.installation);
  let waitedMs = 0;
  const client = deps.practice(input.installation).forWindow({
    signal: liveness.signal,
    onWait: (ms) => {
      waitedMs += ms;
      liveness.waited(waitedMs);
    },
  });
  return {
    client,
    use: () => {
      const { requests, weight, throttled, waitedMs: waited } = client.counters();
      return { requests, weight, throttled, waited_seconds: Math.round(waited) / 1000 };
    },
    context: {
      installation: input.installation,
      timezone: installation.timezone,
      dialect: installation.dialect,
      db: deps.db,
      client,
      owner: input.kind,
      run: ownWorkflow().runId,
      priority: priorities[input.kind],
      overlapMs: installation.overlapSeconds * 1000,
      isOwnEcho: await ownEchoes(deps.db, input.installation, installation.dialect),
      onProgress: ({ stream, received, total }) =>
        liveness.beat({ step: `pulling ${streamNames[stream]}`, done: received, total }),
    },
  };
}

/** What a stream is asked since: its watermark less the overlap, which covers transactions that commit late. */
function since(cursors: StreamCursors, stream: 'invoice' | 'prepayment' | 'row', overlapMs: number): Date | null {
  const watermark = cursors[stream].value?.watermark;
  return watermark ? new Date(new Date(watermark).getTime() - overlapMs) : null;
}

/** The new watermark: this window's `to`, or the walk's own beginning where it was taken up from an earlier window. */
function watermark(window: OpenWindow, began: Date): string {
  return new Date(Math.min(began.getTime(), new Date(window.to).getTime())).toISOString();
}

export function pullActivities(deps: ActivityDeps) {
  const changed = (stream: 'invoice' | 'prepayment') => (input: WindowInput, window: OpenWindow) =>
    alive(deps, input, window, async (liveness): Promise<PullReport> => {
      const { context, use } = await pullContext(deps, input, liveness);
      const cursors = await readCursors(deps.db, input.installation);
      const result = await pullChanged(context, stream, since(cursors, stream, context.overlapMs));
      await moveCursor(
        deps.db,
        input.installation,
        stream,
        { watermark: watermark(window, result.began) },
        cursors[stream].revision,
      );
      return report(stream, result, use());
    });

  return {
    pullInvoices: changed('invoice'),
    pullPrepayments: changed('prepayment'),

    async pullPayments(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        const cursors = await readCursors(deps.db, input.installation);
        const after = cursors.payment.value?.after ?? null;
        const result = await pullPayments(context, after);
        const next = await nextPaymentCursor(context, result.began);
        await moveCursor(
          deps.db,
          input.installation,
          'payment',
          { after: next === null ? after : Math.max(next, after ?? 0) },
          cursors.payment.revision,
        );
        return report('payment', result, use());
      });
    },

    async pullRows(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        const cursors = await readCursors(deps.db, input.installation);
        // Half a scan makes the rest look cheaper as sets, which would ask for everything again.
        const resumed = (await isScanUnfinished(context)) ? await scanRows(context) : null;
        const result = await pullRows(context, since(cursors, 'row', context.overlapMs), { pause: liveness.pause });
        result.seen += resumed?.seen ?? 0;
        result.pulled += resumed?.pulled ?? 0;
        // Whatever changed after the window's `to` is noticed by the next one.
        await moveCursor(deps.db, input.installation, 'row', { watermark: window.to }, cursors.row.revision);
        return report('row', result, use());
      });
    },

    /** Fetches the parts of documents whose proofs failed again, a batch at a time. */
    async pullParts(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        const found = await deps.db.raw<{
          rows: { kind: RefetchNeed['kind']; id: number; parent_id: number | null }[];
        }>(
          `select d.kind, d.id, m.parent_id from document d
           join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
           where d.installation = ? and d.refetch = 'wanted' order by d.kind, d.id limit ?`,
          [input.installation, partsBatch],
        );
        const needs = found.rows.map(({ kind, id, parent_id }) => ({ kind, id, invoiceId: parent_id }));
        const counted: Record<RecordKind, { seen: number; pulled: number }> = {
          invoice: { seen: 0, pulled: 0 },
          row: { seen: 0, pulled: 0 },
          payment: { seen: 0, pulled: 0 },
          prepayment: { seen: 0, pulled: 0 },
        };
        await pullParts(context, needs, (stream, result) => {
          counted[stream].seen += result.seen;
          counted[stream].pulled += result.pulled;
        });
        const streams = (Object.keys(counted) as RecordKind[]).map((stream) => ({ stream, ...counted[stream] }));
        return { streams, api: use() };
      });
    },

    /** One list from its beginning, for a backfill; live cursors stay where they are. */
    async backfillStream(input: WindowInput, window: OpenWindow, stream: RecordKind): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        const result =
          stream === 'row'
            ? await scanRows(context)
            : stream === 'payment'
              ? await pullPayments(context, null)
              : await pullChanged(context, stream, null, input.fromDate);
        return report(stream, result, use());
      });
    },
  };
}

/** Whether a scan of all rows was interrupted, by whatever ended its activity. */
async function isScanUnfinished({ db, installation, owner }: PullContext): Promise<boolean> {
  const found = await db.raw<{ rows: unknown[] }>(
    `select from sync_walk where installation = ? and stream = 'row' and owner = ?`,
    [installation, owner],
  );
  return found.rows.length > 0;
}

function report(stream: RecordKind, result: PullResult, api: ApiUse): PullReport {
  return { streams: [{ stream, seen: result.seen, pulled: result.pulled }], api };
}
