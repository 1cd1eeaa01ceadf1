import { priorities } from '../src/practice/budget.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import { walkOnce } from '../src/sync/finished.ts';
import { walkInvoices } from '../src/sync/opening.ts';
import { partsBatch, pullParts, type RefetchNeed } from '../src/sync/parts.ts';
import { type PullContext, type PullResult, pullChanged, pullPayments } from '../src/sync/pull.ts';
import { completeScan, pullRows, type RowPorts, scanRows } from '../src/sync/rows.ts';
import { pullStep, pullStream } from '../src/sync/streams.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { RecordKind } from '../src/terms.ts';
import { ownEchoes } from '../src/writeback/store.ts';
import type { ApiUse, WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, installationOf, type Liveness, ownWorkflow } from './context.ts';

export interface PullReport {
  streams: { stream: RecordKind; seen: number; pulled: number }[];
  api: ApiUse;
}

export async function pullContext(
  deps: ActivityDeps,
  input: WindowInput,
  liveness: Liveness,
): Promise<{ context: PullContext; client: PracticeClient; ports: RowPorts; use: () => ApiUse }> {
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
    ports: { pause: liveness.pause, sourceNow: () => client.sourceNow() },
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
      priority: input.kind === 'backfill' ? priorities.backfill : priorities.live,
      overlapMs: installation.overlapSeconds * 1000,
      findOwnEchoes: ownEchoes(deps.db, input.installation, installation.dialect),
      onProgress: ({ stream, received, total }) => liveness.beat({ step: pullStep(stream), done: received, total }),
    },
  };
}

export function pullActivities(deps: ActivityDeps) {
  const stream = (name: RecordKind) => (input: WindowInput, window: OpenWindow) =>
    alive(deps, input, window, async (liveness): Promise<PullReport> => {
      const { context, ports, use } = await pullContext(deps, input, liveness);
      return report(name, await pullStream(context, name, window, ports), use());
    });

  return {
    pullInvoices: stream('invoice'),
    pullPrepayments: stream('prepayment'),
    pullPayments: stream('payment'),
    pullRows: stream('row'),

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

    /** One list from its beginning, for a backfill; live cursors stay where they are. Lists that are done stay done until it ends. */
    async backfillStream(input: WindowInput, window: OpenWindow, stream: RecordKind): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        const result =
          stream === 'row'
            ? await scanRows(context)
            : stream === 'invoice'
              ? await walkInvoices(context, input.fromDate)
              : await walkOnce(context, stream, '', () =>
                  stream === 'payment' ? pullPayments(context, null) : pullChanged(context, stream, null),
                );
        return report(stream, result, use());
      });
    },

    /** All rows by id, beside the other lists of a first load: each list has its own budget. */
    async scanRows(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, use } = await pullContext(deps, input, liveness);
        return report('row', await scanRows(context), use());
      });
    },

    /** What a backfill's scan of the rows did not cover, as sets, once its invoices are there. */
    async completeRows(input: WindowInput, window: OpenWindow): Promise<PullReport> {
      return alive(deps, input, window, async (liveness) => {
        const { context, ports, use } = await pullContext(deps, input, liveness);
        await completeScan(context);
        return report('row', await pullRows(context, null, ports), use());
      });
    },
  };
}

function report(stream: RecordKind, result: PullResult, api: ApiUse): PullReport {
  return { streams: [{ stream, seen: result.seen, pulled: result.pulled }], api };
}
