import { Option } from 'commander';
import { z } from 'zod';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Connection } from '../../db/rows.ts';
import { UserError } from '../../domain/errors.ts';
import { amount, counts, date, documentStates } from '../../queries/answer.ts';
import { reconcileWithSource } from '../../queries/reconcile.ts';
import { reconcileWithErp } from '../../queries/reconcile-erp.ts';
import type { InstallationReport } from '../../reconcile/reconcile-report.ts';
import { readAccountNames } from '../../reports/account-names.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { lineRoles } from '../../terms.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { stepTexts } from '../../texts/steps.ts';
import { chosenBooks, localTimes } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { noteText } from '../render/reconcile-notes.ts';
import { outsideAnswer } from '../render/verdict.ts';
import { withApp } from '../with-app.ts';
import { reconcileText } from './reconcile-text.ts';

interface Options {
  installation?: number;
  erp?: true;
  full?: true;
  complete?: true;
}

const equation = z
  .strictObject({
    ok: z.boolean(),
    difference: z.union([amount, z.number()]),
    documents: z.array(z.strictObject({ document: z.string(), difference: z.string(), message: z.string() })),
    documents_omitted: z.number().optional(),
  })
  .meta({ id: 'equation' });
const notes = z.array(z.strictObject({ document: z.string(), message: z.string() })).meta({ id: 'notes' });

export const answer = z.strictObject({
  ok: z.boolean(),
  complete: z.boolean(),
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      ok: z.boolean(),
      complete: z.boolean(),
      empty: z.boolean(),
      outside: outsideAnswer,
      left_as_posted: outsideAnswer,
      currency: z.string(),
      equations: z.strictObject({
        E1: equation,
        E2: equation,
        E3: equation,
        E4: equation,
        E5: equation,
        E6: equation.extend({ not_counted: z.array(z.string()).optional() }),
        E7: equation.optional(),
        E8: equation.optional(),
        E9: equation,
        E10: equation,
        E11: equation.optional(),
      }),
      states: documentStates,
      trial_balance: z.array(
        z.strictObject({
          account: z.string(),
          name: z.string().nullable().optional(),
          role: z.string().optional(),
          debit: amount,
          credit: amount,
          balance: amount,
        }),
      ),
      listed: z.strictObject({
        payments_without_invoice: notes,
        held_changes: notes,
        consolidation_clearing: z.array(z.strictObject({ document: z.string(), balance: amount })),
        credit_settlement: z.array(z.strictObject({ documents: z.array(z.string()), balance: amount })),
        prepayment_clients: z.array(
          z.strictObject({ client: z.string(), ledger: amount, source: amount, unproven: z.array(z.string()) }),
        ),
        unused_prepayments: z.array(z.strictObject({ month_end: date, balance: amount })),
        prepayment_vat: notes.optional(),
        vat_due: notes.optional(),
        vouchers: z.array(
          z.strictObject({ role: z.string(), opening: amount, sold: amount, redeemed: amount, balance: amount }),
        ),
        liabilities_in_debit: z.array(
          z.strictObject({ account: z.string(), roles: z.array(z.string()), balance: amount }),
        ),
        write_backs: z.strictObject({ foreign: notes, unproven: notes }),
        residues: z.array(z.strictObject({ account: z.string(), date, residue: amount })),
        unsummarised: z.array(z.strictObject({ date, entries: z.number() })),
        reports: z.array(z.strictObject({ document: z.string(), code: z.string(), message: z.string() })),
      }),
      erp: z
        .strictObject({ undelivered: notes, refused: notes, cancelled_out: notes, within_tolerance: notes })
        .optional(),
      not_in_erp: counts.optional(),
      refetched: z.strictObject({ documents: z.number(), changed: z.number(), left: z.number() }).optional(),
      /** Number of omitted items in each list. */
      omitted: counts,
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'Checks whether the posted entries are right (reconciled: the equations) and whether everything is posted (complete). For documents that are not posted, it prints count, amount, VAT and oldest date per kind. With --erp, it reads the entries back from the ERP and compares them with the delivered ones (E7). It lists entries that were changed, deleted or added manually. The books are then complete only if every entry is in the ERP. It reads only changes since the last time, but everything once a week and with --full.',
  options: [
    installation,
    new Option('--erp', 'also read back the entries in the ERP (E7)'),
    new Option('--full', 'with --erp: read back everything'),
    new Option(
      '--complete',
      'exit code 1 also if a document is held, late, missing, changed after posting or not judged yet, or if nothing is posted; with --erp also if an entry is refused or not delivered',
    ),
  ],
  examples: [
    ['vetledger reconcile', 'trial balance, states and equations'],
    ['vetledger reconcile --json', 'the same as JSON'],
    ['vetledger reconcile --complete', 'for a script that approves a month only if the books are complete'],
    ['vetledger reconcile --erp --full', 'also read back everything in the ERP'],
  ],
  answer,
  run: reconcile,
};

/**
 * Checks the equations over the whole books and, with `erp`, the ERP. Exit code 1 on a difference. With `complete`, exit code 1 also if
 * a document is outside the books, or if the books are empty.
 */
function reconcile(context: CommandContext, options: Options): Promise<number> {
  const { erp = false, full = false, complete = false } = options;
  if (full && !erp) {
    throw new UserError(commandErrors.fullWithoutErp(), 2);
  }
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = await chosenBooks(app, options.installation);
    const times = localTimes(app.config);
    const ownBooks = await reconcileWithSource(app, chosen, (installation, note) =>
      context.note(noteText(installation, note, times)),
    );
    const unnamed = erp
      ? await reconcileWithErp({ ...app, clock: systemClock }, ownBooks, chosen, {
          ...{ full, signal: context.signal },
          onProgress: (installation, entries) => app.log.debug({ installation, entries }, stepTexts.readingBack),
          onWaiting: (installation) => context.note(noteText(installation, { reason: 'waiting_for_reading' }, times)),
        })
      : ownBooks;
    const report = { ...unnamed, installations: await withNames(app.db, chosen, unnamed.installations) };
    await context.result(report, () => reconcileText(report));
    const isWhole = report.complete && !report.installations.some(({ empty }) => empty);
    return report.ok && (isWhole || !complete) ? 0 : 1;
  });
}

/** Adds the names of accounts to the trial balances. */
async function withNames(
  db: Connection,
  chosen: readonly InstallationConfig[],
  reports: readonly InstallationReport[],
): Promise<InstallationReport[]> {
  const named: InstallationReport[] = [];
  for (const report of reports) {
    const installation = chosen.find(({ id }) => id === report.installation);
    const names = installation && (await readAccountNames(db, installation));
    const lines = report.trial_balance.map(({ account, role, ...line }) => ({
      ...{ account, name: names?.nameOf(account, lineRoles.find((each) => each === role) ?? null) ?? null },
      ...(role === undefined ? {} : { role }),
      ...line,
    }));
    named.push({ ...report, trial_balance: lines });
  }
  return named;
}
