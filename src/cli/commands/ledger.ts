import { transactionsOf } from '../../db/lease.ts';
import { businessDate } from '../../domain/dates.ts';
import { closePeriods } from '../../ledger/close.ts';
import { summariseDays } from '../../ledger/summaries/append.ts';
import { type ChainReport, chainReport } from '../../queries/ledger.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import type { CalendarDate } from '../../terms.ts';
import { chosenBooks } from '../books.ts';
import { type CommandContext, usageError } from '../context.ts';
import { chainText, closedText } from '../render/ledger.ts';
import { withApp } from '../with-app.ts';

/** Verifies the hash chain of each journal; exit code 1 when one is broken. */
export function verify(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: ChainReport[] = [];
    for (const { id } of chosenInstallations(config, options.installation))
      installations.push(await chainReport(db, id));
    const ok = installations.every((chain) => chain.ok);
    await context.result({ ok, installations }, () => installations.map(chainText).join('\n'));
    return ok ? 0 : 1;
  });
}

/** Closes our own books through a past day (ACCOUNTING "Locked"). */
export function close(
  context: CommandContext,
  options: { through: CalendarDate; installation?: number },
): Promise<number> {
  const { through } = options;
  return withApp(context, { temporal: false }, async (app) => {
    const { db, clock } = app;
    const chosen = (await chosenBooks(app, options.installation)).map(({ id, timezone }) => ({
      id,
      today: today(clock(), timezone),
    }));
    for (const { id, today } of chosen) {
      if (through < today) continue;
      throw usageError(
        `${through} is not over yet for installation ${id}: only past days can be closed.`,
        'ledger close',
      );
    }
    // Summaries of days that are over are made first: a closed day gets another one only for late documents.
    for (const { id, today } of chosen) await summariseDays(transactionsOf(db), id, { before: today, windowId: null });
    await closePeriods(db, chosen, through);
    const installations = chosen.map(({ id }) => ({ installation: id, closed_through: through }));
    await context.result({ installations }, () => installations.map(closedText).join('\n'));
    return 0;
  });
}

function today(now: Date, timezone: string): CalendarDate {
  const date = businessDate(now.toISOString(), timezone);
  if (date === null) throw new Error(`no calendar date in ${timezone} at ${now.toISOString()}`);
  return date;
}
