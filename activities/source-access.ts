import type { Transact } from '../src/db/lease.ts';
import { priorities } from '../src/practice/budget.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { PullContext, PullOwner } from '../src/sync/context.ts';
import type { RowPorts } from '../src/sync/pull-rows.ts';
import { pullStep } from '../src/sync/streams.ts';
import { ownEchoes } from '../src/writeback/echoes.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, installationOf } from './deps.ts';
import { type Heartbeat, ownWorkflow } from './heartbeat.ts';

const priorityOf: Record<PullOwner, number> = {
  window: priorities.live,
  backfill: priorities.backfill,
  replay: priorities.replay,
  scrub: priorities.scrub,
};

export interface SourceAccess {
  context: PullContext;
  client: PracticeClient;
  ports: RowPorts;
}

export function sourceAccess(
  deps: ActivityDeps,
  input: Pick<WindowInput, 'installation'> & { kind: PullOwner },
  heartbeat: Heartbeat,
  transact: Transact,
): SourceAccess {
  const { id, timezone, dialect, keepRaw, overlapSeconds } = installationOf(deps, input.installation);
  const client = heartbeat.client(deps.practice(id));
  const context: PullContext = {
    installation: id,
    ...{ timezone, dialect, keepRaw, client, db: deps.db, transact },
    owner: input.kind,
    run: ownWorkflow().runId,
    priority: priorityOf[input.kind],
    overlapMs: overlapSeconds * 1000,
    findOwnEchoes: ownEchoes(deps.db, id, dialect),
    onProgress: ({ stream, received, total }) => heartbeat.beat({ step: pullStep(stream), done: received, total }),
  };
  return {
    client,
    context,
    ports: { pause: heartbeat.pause, sourceNow: () => client.sourceNow() },
  };
}
