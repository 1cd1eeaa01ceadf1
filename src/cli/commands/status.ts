import { Option } from 'commander';
import { z } from 'zod';
import { mailTrouble } from '../../mail/outbox.ts';
import { counts, documentStates, instant, plainError, remark } from '../../queries/answer.ts';
import { filedReturnsAnswer } from '../../queries/closing-answer.ts';
import { putOffReasons } from '../../queries/reconcile-turns.ts';
import { type InstallationStatus, installationStatuses, statusSummary } from '../../queries/status.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { servedInstallations } from '../../runtime/presence.ts';
import { resultTexts } from '../../texts/commands/results.ts';
import { probePostgres } from '../../windows/probes.ts';
import { answerWithinMs, temporalStatus } from '../../windows/temporal-status.ts';
import { untakenTicks } from '../../windows/untaken.ts';
import { localTimes } from '../books.ts';
import { type Definition, installation } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { deliveryAnswer } from '../render/delivery.ts';
import { verdictAnswer } from '../render/verdict.ts';
import { withApp } from '../with-app.ts';
import { mailLines, statusText, summaryText, temporalLines } from './status-text.ts';

interface Options {
  installation?: number;
  check?: true;
}

const scrubbed = z.strictObject({
  records: z.number(),
  of: z.number(),
  differing: z.number(),
  missing: z.number(),
});
const scrubbedLists = z.strictObject({
  invoices: scrubbed,
  rows: scrubbed,
  payments: scrubbed,
  prepayments: scrubbed,
});

const answer = z.strictObject({
  summary: z.strictObject({
    installations: z.number(),
    health: counts,
    late: z.number(),
    problems: z.number(),
    incomplete: z.number(),
    not_reconciled: z.number(),
    reconcile_old: z.number(),
    longest_lag_seconds: z.number().nullable(),
  }),
  temporal: z
    .strictObject({
      ok: z.boolean(),
      address: z.string(),
      embedded: z.boolean(),
      since: instant.nullable(),
      error: plainError.nullable(),
    })
    .nullable(),
  mail: z
    .strictObject({
      waiting: z.number(),
      given_up: z.number(),
      since: instant.nullable(),
      error: plainError.nullable(),
    })
    .nullable(),
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      name: z.string().nullable(),
      health: z.enum(['new', 'ok', 'waiting', 'held', 'paused', 'late', 'failed']),
      late: z.boolean(),
      cause: plainError.extend({ attempts: z.number().optional(), since: instant.optional() }).nullable(),
      lag_seconds: z.number().nullable(),
      interval_seconds: z.number(),
      synced_to: instant.nullable(),
      last_window: z
        .strictObject({
          outcome: z.enum(['open', 'closed', 'failed']),
          opened_at: instant,
          error: plainError.nullable(),
          remarks: z.array(remark),
        })
        .nullable(),
      lanes: z.array(
        z.strictObject({
          lane: z.enum(['live', 'backfill', 'replay', 'delivery', 'scrub', 'books', 'reconcile']),
          since: instant,
          alive: z.boolean(),
          waits_for: z.string().nullable(),
          waits_since: instant.nullable(),
          error: plainError.nullable(),
          attempts: z.number(),
        }),
      ),
      daemon: z.boolean().nullable(),
      untaken_tick: z.strictObject({ since: instant, workflow_id: z.string() }).nullable(),
      schedule: z
        .strictObject({
          missed: z.number(),
          skipped: z.number(),
          dropped: z.number(),
          missed_at: instant.nullable(),
          paused: z.boolean(),
        })
        .nullable(),
      budgets: z.array(
        z.strictObject({
          action: z.string(),
          limit: z.number(),
          limit_now: z.number(),
          used: z.number(),
          free: z.number(),
          waiting: z.number(),
          blocked_until: instant.nullable(),
        }),
      ),
      states: documentStates,
      problems: z.number(),
      verdict: verdictAnswer,
      reconcile: z.strictObject({
        age_seconds: z.number().nullable(),
        old: z.boolean(),
        next_at: instant.nullable(),
        put_off: z.enum(putOffReasons).nullable(),
        error: plainError.nullable(),
      }),
      seal: z
        .strictObject({ n: z.number(), seq: z.number(), sealed_at: instant.nullable(), unsealed: z.number() })
        .nullable(),
      write_backs: z.strictObject({ confirmed: z.number(), unconfirmed: z.number() }),
      scrub: z.strictObject({
        days: z.number(),
        state: z.enum(['off', 'not begun', 'reading', 'done']),
        began_at: instant.nullable(),
        finished_at: instant.nullable(),
        forecast_at: instant.nullable(),
        late: z.boolean(),
        lists: scrubbedLists.nullable(),
        last_pass: z.strictObject({ began_at: instant, finished_at: instant, lists: scrubbedLists }).nullable(),
      }),
      delivery: deliveryAnswer.nullable(),
      paused: z
        .strictObject({
          by: z.string(),
          reason: z.string(),
          since: instant,
          via: z.literal('command'),
        })
        .nullable(),
      sign_in: z.strictObject({ refusals: z.number(), since: instant, ask_again_at: instant }).nullable(),
      vat_returns: filedReturnsAnswer.nullable(),
      next_step: z.string(),
    }),
  ),
});

export const command: Definition<Options> = {
  description:
    'Prints a summary and a line per installation, the most urgent first. With --installation, or if there is only one, it prints all details of the installation. An installation is late if no window has closed for more than two intervals. If Temporal does not answer within three seconds or has lost its data, this is printed first, because no window opens then.',
  options: [
    installation,
    new Option(
      '--check',
      'for monitoring: exit code 1 if an installation is late, if its books do not reconcile or were not reconciled for two days, if Temporal does not answer, or if mail cannot be sent',
    ),
  ],
  examples: [
    ['vetledger status', 'the state, and the next step'],
    ['vetledger status --installation 4711', 'everything about one installation'],
    ['vetledger status --check --json', 'for monitoring'],
  ],
  answer,
  run: status,
};

/**
 * Prints lag and health of every installation, or all details of one, and whether Temporal answers.
 */
function status(context: CommandContext, options: Options): Promise<number> {
  return withApp(context, { temporal: false }, async (app) => {
    const { db, config, clock } = app;
    const chosen = chosenInstallations(config, options.installation);
    const { schedule, sealKey, reconcileBetween } = config;
    const temporal = await temporalStatus(config, db);
    const installations: InstallationStatus[] = await installationStatuses(
      {
        ...{ db, now: clock(), schedule, taskQueue: config.temporal.taskQueue },
        served: await servedInstallations(db, config.temporal.taskQueue),
        ticks: temporal?.ok ? await untakenTicks(app, temporal.address) : [],
        ...{ seals: sealKey !== null, reconcileBetween, temporal: temporal?.error ?? null },
      },
      chosen,
    );
    const summary = statusSummary(installations);
    const mail = config.mail === null ? null : await mailTrouble(db, clock());
    const unwritable = await probePostgres(app, answerWithinMs);
    if (unwritable) context.note(resultTexts.warning({ message: `${unwritable.message} ${unwritable.todo}` }));
    await context.result({ summary, temporal, mail, installations }, () => {
      const [only, ...more] = installations;
      const text =
        only !== undefined && more.length === 0
          ? statusText(only, (time) => localTimes(config)(only.installation, time))
          : summaryText(summary, installations);
      return [...temporalLines(temporal), ...mailLines(mail), text].join('\n');
    });
    const isReconciled = summary.not_reconciled + summary.reconcile_old === 0;
    const isWell = summary.late === 0 && isReconciled && mail === null && temporal?.ok !== false && unwritable === null;
    return options.check && !isWell ? 1 : 0;
  });
}
