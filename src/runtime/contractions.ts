import { instant, integer, text } from '../db/columns.ts';
import { migrate, waitingContractions } from '../db/migrate.ts';
import type { Db } from '../db/pool.ts';
import { rows } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import type { PostgresHandle } from '../embedded/index.ts';
import { asOwner } from './database.ts';
import { presenceTimes } from './presence.ts';

export interface Migrated {
  applied: string[];
  /** Contractions that were not asked for. */
  waiting: string[];
}

/** Brings the schema up to date, also by contractions where `contract` asks for them and no process minds. */
export function migrateWith(postgres: Pick<PostgresHandle, 'url' | 'ownerUrl'>, contract: boolean): Promise<Migrated> {
  return asOwner(postgres, async (owner, runtime) => {
    const applied = await migrate(owner, runtime);
    if (contract && (await waitingContractions(owner)).length > 0) {
      await refuseOlderProcesses(owner);
      applied.push(...(await migrate(owner, { ...runtime, contract })));
    }
    return { applied, waiting: await waitingContractions(owner) };
  });
}

/**
 * A contraction breaks programs of older versions: none may be at work. One that started before the latest expansion was applied is
 * taken for older, because it may be.
 */
export async function refuseOlderProcesses(db: Db): Promise<void> {
  const found = await rows(
    db,
    { command: text, host: text, process: integer, version: text, started_at: instant },
    `select command, host, process, version, started_at from daemon
     where heard_at > clock_timestamp() - make_interval(secs => ?)
       and started_at < (select max(applied_at) from migration) order by started_at`,
    [presenceTimes.forgottenAfterSeconds],
  );
  if (found.length === 0) return;
  const named = found.map((each) => `${each.command} on ${each.host} (process ${each.process}, ${each.version})`);
  throw new UserError(
    'older_processes_at_work',
    `Contractions would break processes that started before the last migration: ${named.join(', ')}. None was applied.`,
    'Start them anew with this version, or stop them, and run `vetledger migrate --contract` again.',
    3,
  );
}
