import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const retried = 'Nothing: vetledger retries automatically.';

/**
 * The next step after a window, backfill or replay was cancelled. No later window reads the records that a replay left
 * out.
 */
const afterCancel = {
  window: 'Nothing is lost: the next window covers it.',
  backfill: 'Nothing is lost: `vetledger backfill` continues from there.',
  replay: 'Nothing was lost or changed twice. Run the replay again.',
};

/** The next step after the workflow of a window, backfill or replay was ended from outside. */
const afterEnd = {
  window: 'Nothing is lost: the next window covers it.',
  backfill: 'Run the backfill again: it continues from there.',
  replay: 'Run the replay again.',
};

type Kind = keyof typeof afterEnd;

const resume = (installation: number) => `To continue, run \`vetledger resume --installation ${installation}\`.`;

/** The reason why a window, backfill or replay did not open, or how it ended. */
export const windowErrors = catalogue('errors/windows.windowErrors', {
  noProgress: ({
    activity,
    minutes,
    step,
  }: {
    activity: string;
    minutes: number;
    step: string | null;
  }): PlainError => ({
    code: 'no_progress',
    message: `${activity} made no progress for ${minutes} minutes${step === null ? '' : ` (step: ${step})`}.`,
    todo: retried,
  }),
  tooManyAttempts: ({
    code,
    activity,
    times,
    reason,
  }: {
    code: string;
    activity: string;
    times: number;
    reason: string;
  }): PlainError => ({
    code,
    message: `${activity} failed ${times} times for an unknown reason. The last error: ${reason}`,
    todo: 'Nothing is lost: the next window, or `vetledger backfill`, continues from there. If it fails again, report it with the log.',
  }),
  processDied: 'The process died, or stopped working.',
  notServed: ({ installation }: { installation: number }): PlainError => ({
    code: 'installation_not_served',
    message: `No running process serves installation ${installation}.`,
    todo: 'Start `vetledger run` with a configuration that includes this installation. The work then continues from there.',
  }),
  superseded: ({ window, installation }: { window: number; installation: number }): PlainError => ({
    code: 'window_superseded',
    message: `Window ${window} of installation ${installation} lost its lease, and was recorded as failed.`,
    todo: 'Nothing: the window that took over covers it.',
  }),
  reset: ({ window, installation }: { window: number; installation: number }): PlainError => ({
    code: 'window_reset',
    message: `Window ${window} of installation ${installation} has already ended. A reset of its workflow cannot run it again.`,
    todo: `Nothing has changed. To read its interval again, run \`vetledger replay ${window}\`.`,
  }),
  unexpected: ({ reason }: { reason: string }): PlainError => ({
    code: 'unexpected',
    message: reason,
    todo: 'Report the error with the log.',
  }),
  workerStopped: (): PlainError => ({
    code: 'worker_stopped',
    message: 'The process that ran the window was stopped, and no other process has taken over.',
    todo: 'Start `vetledger run`: the window continues from there.',
  }),
  failingTooLong: ({ activity, seconds }: { activity: string; seconds: number }): PlainError => ({
    code: 'window_given_up',
    message: `${activity} failed for ${seconds} s without a success.`,
    todo: 'Nothing is lost: the next window continues from there.',
  }),
  busy: ({ installation }: { installation: number }): PlainError => ({
    code: 'window_busy',
    message: `Another window of installation ${installation} is still open.`,
    todo: 'Wait until it ends: `vetledger windows` shows it. A window whose process was killed ends automatically.',
  }),
  paused: ({
    code,
    installation,
    by,
    reason,
  }: {
    code: string;
    installation: number;
    by: string;
    reason: string;
  }): PlainError => ({
    code,
    message: `The windows of installation ${installation} were paused by ${by}: ${reason}`,
    todo: resume(installation),
  }),
  pausedWith: ({
    code,
    installation,
    message,
  }: {
    code: string;
    installation: number;
    message: string;
  }): PlainError => ({
    code,
    message,
    todo: resume(installation),
  }),
  firstLoadNeeded: ({ code }: { code: string }): PlainError => ({
    code,
    message: 'No record was loaded before, so the window must read everything.',
    todo: 'Nothing: the same window does this.',
  }),
  terminated: ({ kind, installation }: { kind: Kind; installation: number }): PlainError => ({
    code: 'window_terminated',
    message: `The workflow of the ${kind} of installation ${installation} was terminated in Temporal.`,
    todo: afterEnd[kind],
  }),
  timedOut: ({ kind, installation }: { kind: Kind; installation: number }): PlainError => ({
    code: 'window_timed_out',
    message: `Temporal ended the ${kind} of installation ${installation} because its run took too long.`,
    todo: afterEnd[kind],
  }),
  interrupted: ({ kind, installation }: { kind: Kind; installation: number }): PlainError => ({
    code: 'window_interrupted',
    message: `The ${kind} of installation ${installation} ended without recording why.`,
    todo: afterEnd[kind],
  }),
  cancelled: ({ kind, installation }: { kind: Kind; installation: number }): PlainError => ({
    code: 'window_cancelled',
    message: `The ${kind} of installation ${installation} was cancelled before it was complete.`,
    todo: afterCancel[kind],
  }),
  tookTooLong: ({
    kind,
    installation,
    seconds,
  }: {
    kind: Kind;
    installation: number;
    seconds: number;
  }): PlainError => ({
    code: 'window_given_up',
    message: `The ${kind} of installation ${installation} took longer than ${seconds} s.`,
    todo: `${afterCancel[kind]} If this happens again, raise window_timeout_minutes in the configuration.`,
  }),
  backfillSuperseded: ({ installation }: { installation: number }): PlainError => ({
    code: 'backfill_superseded',
    message: `Another backfill of installation ${installation} took over from this one.`,
    todo: 'Nothing is lost: the other backfill continues from there.',
  }),
  failed: ({ code, reason }: { code: string; reason: string }): PlainError => ({
    code,
    message: reason,
    todo: 'Run `vetledger doctor`. The next window covers this one.',
  }),
  didNotEnd: ({ installation, reason }: { installation: number; reason: string }): PlainError => ({
    code: 'window_interrupted',
    message: `The window of installation ${installation} was interrupted: ${reason}`,
    todo: 'Nothing is lost: run it again, or wait for the next one.',
  }),
  stoppedEarly: 'the command was stopped before the window could record its end; the next window covers it',
  activityStopped: 'An activity stopped without giving a reason.',
  inputInvalid: ({ code, kind, wrong }: { code: string; kind: string; wrong: string }): PlainError => ({
    code,
    message: `The input of the ${kind} is wrong: ${wrong}.`,
    todo: 'Nothing was done. Let `vetledger` and its Schedules start this workflow.',
  }),
  inputNoObject: 'it is not an object',
});
