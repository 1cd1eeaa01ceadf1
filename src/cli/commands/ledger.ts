import type { InstallationConfig } from '../../config/load.ts';
import type { Db } from '../../db/pool.ts';
import { businessDate } from '../../domain/dates.ts';
import { UserError } from '../../domain/errors.ts';
import { closedThrough } from '../../ledger/close.ts';
import { summariseDays } from '../../ledger/summaries/append.ts';
import { type BrokenLink, verifyChain } from '../../ledger/verify.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { CalendarDate } from '../../terms.ts';
import { type CommandContext, usageError } from '../context.ts';
import { withApp } from '../with-app.ts';

/** Walks the hash chain of each journal; exit code 1 when a link is broken. */
export function verify(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: {
      installation: number;
      ok: boolean;
      entries: number;
      summaries: number;
      broken: BrokenLink | null;
    }[] = [];
    for (const { id } of chosenInstallations(config, options.installation)) {
      const broken = await verifyChain(db, id);
      const { rows } = await db.raw<{ rows: { entries: number; summaries: number }[] }>(
        `select (select count(*) from entry where installation = ?) as entries,
           (select count(*) from summary_entry where installation = ?) as summaries`,
        [id, id],
      );
      installations.push({ installation: id, ok: broken === null, ...rows[0]!, broken });
    }
    const ok = installations.every((one) => one.ok);
    await context.result({ ok, installations }, () =>
      installations
        .map(({ installation, entries, summaries, broken }) =>
          broken === null
            ? `Installation ${installation}: the chain of ${entries} entries${summaries > 0 ? `, and that of ${summaries} daily summaries,` : ''} is whole.`
            : `Installation ${installation}: the chain is BROKEN at ${broken.entryId}: ${broken.message}.\nwhat to do: restore the database from a backup made before it was changed, and find out who changed it.`,
        )
        .join('\n'),
    );
    return ok ? 0 : 1;
  });
}

/** Closes our own books; entries are not posted on or before that day any more (ACCOUNTING "Locked"). */
export function close(
  context: CommandContext,
  options: { through: CalendarDate; installation?: number },
): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config, clock }) => {
    const chosen = chosenInstallations(config, options.installation);
    for (const installation of chosen) checkFuture(installation, options.through, clock());
    // A closed day gets no summary after it was closed, unless a document comes late all the same.
    for (const { id, timezone } of chosen) {
      await summariseDays(db, id, { before: businessDate(clock().toISOString(), timezone)!, windowId: null });
    }
    await db.transaction(async (trx) => {
      for (const { id } of chosen) await closeOne(trx, id, options.through);
    });
    const installations = chosen.map(({ id }) => ({ installation: id, closed_through: options.through }));
    await context.result({ installations }, () =>
      installations.map((one) => `Installation ${one.installation}: closed through ${one.closed_through}.`).join('\n'),
    );
    return 0;
  });
}

function checkFuture(installation: InstallationConfig, through: CalendarDate, now: Date): void {
  // The Swedish locale writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv', { timeZone: installation.timezone }).format(now);
  if (through < today) return;
  throw usageError(
    `${through} is not over yet for installation ${installation.id}: only past days can be closed.`,
    'ledger close',
  );
}

async function closeOne(db: Db, installation: number, through: CalendarDate): Promise<void> {
  const closed = await closedThrough(db, installation);
  if (closed !== null && closed > through) {
    throw new UserError(
      'period_closed',
      `The books of installation ${installation} are closed through ${closed} already.`,
      'A closed period is not opened again; give a later date.',
      2,
    );
  }
  if (closed === through) return;
  await db.raw('insert into ledger_close (installation, through) values (?, ?)', [installation, through]);
}
