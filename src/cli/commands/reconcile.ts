import { setTimeout } from 'node:timers/promises';
import { query } from '../../db/pool.ts';
import { PracticeError } from '../../domain/practice-error.ts';
import { priorities } from '../../practice/budget.ts';
import { type ReconcileInput, type ReconcileReport, reconcile as reconcileBooks } from '../../reconcile/index.ts';
import { type App, chosenInstallations, installationOf } from '../../runtime/app.ts';
import { pullOne } from '../../sync/parts.ts';
import type { PullContext } from '../../sync/pull.ts';
import { ownEchoes } from '../../writeback/store.ts';
import type { CommandContext } from '../context.ts';
import { renderReconcile } from '../render/reconcile.ts';
import { withApp } from '../with-app.ts';
import { sourceCounts } from './source-counts.ts';

/** The equations over the whole books; exit code 1 on a difference. */
export function reconcile(context: CommandContext, options: { installation?: number }): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const ids = chosenInstallations(app.config, options.installation).map(({ id }) => id);
    const report = await reconcileApp(app, ids, context.note);
    await context.result(report, () => renderReconcile(report));
    return report.ok ? 0 : 1;
  });
}

/** A window under way is waited for this long: in the middle of one, documents are pulled and not yet posted. */
const windowWaitMs = 120_000;
const windowPollMs = 500;
/** Documents in dispute that are fetched again before a difference is told (ACCOUNTING E3). */
const disputedFetched = 50;

/**
 * Counts what the source has, and reconciles. A difference in what is due or unused is told only after its documents were
 * fetched again; `note` is told where the source could not be asked, and while a window is waited for.
 */
export async function reconcileApp(app: App, ids: number[], note: (line: string) => void): Promise<ReconcileReport> {
  for (const id of ids) await windowEnded(app, id, note);
  const inputs: ReconcileInput[] = [];
  for (const id of ids) {
    const { currency, decimals, timezone, startDate, dialect } = installationOf(app.config, id);
    inputs.push({
      ...{ id, currency, decimals, timezone, startDate, dialect },
      refundLowersUnused: dialect.prepayment.refund_lowers_unused_amount,
      sourceCounts: await sourceCounts(app, id, note),
    });
  }
  const report = await reconcileBooks(app.db, inputs);
  let changed = 0;
  for (const { installation, equations } of report.installations) {
    const disputed = [...equations.E2.documents, ...equations.E3.documents].map(({ document }) => document);
    changed += await fetchAgain(app, installation, disputed, note);
  }
  return changed === 0 ? report : reconcileBooks(app.db, inputs);
}

async function windowEnded(app: App, installation: number, note: (line: string) => void): Promise<void> {
  const deadline = app.clock().getTime() + windowWaitMs;
  for (let told = false; app.clock().getTime() < deadline; told = true) {
    const [lease] = await query<{ held: boolean }>(
      app.db,
      'select expires_at > clock_timestamp() as held from lease where installation = ?',
      [installation],
    );
    if (!lease?.held) return;
    if (!told) note(`${installation}: waiting for the window under way`);
    await setTimeout(windowPollMs);
  }
  note(`${installation}: a window is still under way; documents that it has yet to post are told as pending`);
}

/** Fetches the invoices and prepayments among `documents` again; returns how many are different now. */
async function fetchAgain(
  app: App,
  installation: number,
  documents: string[],
  note: (line: string) => void,
): Promise<number> {
  const { timezone, dialect, overlapSeconds } = installationOf(app.config, installation);
  const context: PullContext = {
    ...{ installation, timezone, dialect, db: app.db, client: app.practice(installation), owner: 'window', run: '' },
    priority: priorities.live,
    overlapMs: overlapSeconds * 1000,
    findOwnEchoes: ownEchoes(app.db, installation, dialect),
    onProgress: () => undefined,
  };
  let changed = 0;
  let fetched = 0;
  try {
    for (const [, kind, id] of documents.join(', ').matchAll(/\b(invoice|prepayment) (\d+)\b/g)) {
      if (fetched++ >= disputedFetched) break;
      changed += (await pullOne(context, kind as 'invoice' | 'prepayment', Number(id))).pulled;
    }
  } catch (error) {
    if (!(error instanceof PracticeError)) throw error;
    note(`${installation}: documents in dispute could not be fetched again (${error.message})`);
  }
  return changed;
}
