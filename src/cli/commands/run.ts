import { z } from 'zod';
import type { Config } from '../../config/load-config.ts';
import { codeOf } from '../../domain/errors.ts';
import type { TimedEvent } from '../../domain/events.ts';
import { labelOf } from '../../domain/installation-name.ts';
import { visibleIn } from '../../domain/text.ts';
import { instant, plainError } from '../../queries/answer.ts';
import { daemonTexts } from '../../texts/commands/windows.ts';
import { runDaemon } from '../../windows/daemon.ts';
import type { WindowReport } from '../../windows/run-window.ts';
import { named } from '../books.ts';
import type { Definition } from '../command.ts';
import { type CommandContext, OutputClosed } from '../context.ts';
import { instant as instantText } from '../render/text.ts';
import { windowAnswer, windowLine, windowsDocument } from '../render/window.ts';
import { withApp } from '../with-app.ts';

const happened = { time: instant, installation: z.number(), name: z.string().nullable().optional() };
const ofWindow = { ...happened, window: z.number(), workflow_id: z.string(), run_id: z.string() };
const ofDependency = {
  ...happened,
  dependency: z.enum(['postgres', 'temporal', 'practice_api', 'erp']),
  installation: z.number().nullable(),
};

/** One line of `run --json`. */
const answer = z.discriminatedUnion('event', [
  z.strictObject({
    ...ofWindow,
    event: z.literal('window_opened'),
    kind: z.string(),
    trigger: z.string(),
    from: instant.nullable(),
    to: instant.nullable(),
  }),
  windowAnswer.extend({ ...ofWindow, event: z.enum(['window_closed', 'window_failed']) }),
  z.strictObject({ ...ofWindow, event: z.literal('window_not_opened'), error: plainError }),
  z.strictObject({
    ...happened,
    event: z.literal('delivery'),
    workflow_id: z.string(),
    run_id: z.string(),
    delivered: z.number(),
    refused: z.number(),
    left: z.number(),
    error: plainError.nullable(),
  }),
  z.strictObject({ ...ofDependency, event: z.literal('outage'), error: plainError }),
  z.strictObject({ ...ofDependency, event: z.literal('recovery'), seconds: z.number() }),
  z.strictObject({
    ...happened,
    event: z.enum(['paused', 'resumed']),
    what: z.enum(['windows', 'delivery']),
    by: z.string(),
    reason: z.string(),
  }),
]);

export const command: Definition<object> = {
  description:
    'Opens a window of every installation at the interval of `schedule.every`, until Ctrl-C or SIGTERM. Prints each window as one line on stdout.',
  examples: [['vetledger run --config /etc/vetledger/vetledger.yaml', 'run as a service']],
  answer,
  run,
};

/** The daemon. With --json, each event is a line of JSON. */
function run(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: true, logLevel: 'info', handlesSignal: true, pacesSignIn: true }, async (app) => {
    const { installations } = app.config;
    const names = installations.length > 10 ? String(installations.length) : installations.map(labelOf).join(', ');
    context.note(daemonTexts.started({ installations: names, seconds: app.config.schedule.everySeconds }));
    context.signal.addEventListener('abort', () => forceEnd(context), { once: true });
    const lines = new Lines(context, () => app.log.warn(daemonTexts.notRead));
    const unsubscribe = app.events.on((unnamed) => {
      const event = withName(app.config, unnamed);
      const document = context.json ? eventDocument(event) : null;
      const text = context.json ? document && JSON.stringify(document) : eventLine(event);
      if (text !== null) lines.print(text);
    });
    try {
      await runDaemon(app, {
        signal: AbortSignal.any([context.signal, lines.ended]),
        ...(context.io.onHangup ? { reloads: { env: context.env, subscribe: context.io.onHangup } } : {}),
        onObserving: (url) => context.note(daemonTexts.observing({ url })),
        onListening: (url) => context.note(daemonTexts.listening({ url })),
      });
    } finally {
      unsubscribe();
    }
    await lines.written();
    return 0;
  });
}

/** Adds the name of the installation to the event, if there is one. */
function withName(config: Config, event: TimedEvent): TimedEvent {
  if (event.installation === null) return event;
  const [found = event] = named(config, [{ ...event, installation: event.installation }]);
  return 'report' in found ? { ...found, report: named(config, [found.report as WindowReport])[0] ?? {} } : found;
}

/** This limit is shorter than the 30 s after which a supervisor kills a process that ignores SIGTERM. */
const endWithinMs = 28_000;

/** Forces the end of the process after a time limit. The next daemon continues its work, as after a kill. */
function forceEnd(context: CommandContext): void {
  setTimeout(() => {
    context.note(daemonTexts.forced({ seconds: endWithinMs / 1000 }));
    process.exit(0);
  }, endWithinMs).unref();
}

/** Maximum number of buffered lines, so that a reader that has stopped reading does not fill the memory. */
const maximumWaiting = 10_000;

/** Prints lines in order. If the reader closes stdout, `ended` aborts and `written` throws. */
class Lines {
  readonly #context: CommandContext;
  readonly #dropped: () => void;
  readonly #ending = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `dropped` is called at the first line that is dropped because too many wait, and again only after lines were read. */
  constructor(context: CommandContext, dropped: () => void) {
    this.#context = context;
    this.#dropped = dropped;
    // Detects a closed stdout immediately, not only at the next line.
    context.io.stdout.once('error', (error) => this.#end(codeOf(error) === 'EPIPE' ? new OutputClosed() : error));
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  print(line: string): void {
    if (this.#waiting === maximumWaiting) this.#dropped();
    this.#waiting += 1;
    if (this.#waiting > maximumWaiting) return;
    this.#last = this.#last.then(() => this.#write(line));
  }

  /** Waits until all lines are written. Throws OutputClosed if the reader has closed stdout, or the write error. */
  async written(): Promise<void> {
    if (!this.#context.signal.aborted) await this.#last;
    this.ended.throwIfAborted();
  }

  async #write(line: string): Promise<void> {
    if (this.ended.aborted) return;
    try {
      await this.#context.write(`${line}\n`);
    } catch (error) {
      if (!this.#context.signal.aborted) this.#end(error);
    }
    this.#waiting = Math.max(0, Math.min(this.#waiting, maximumWaiting) - 1);
  }

  /** The daemon ends when its reader closes stdout, like any command in a pipe. */
  #end(error: unknown): void {
    this.#ending.abort(error);
  }
}

/** The JSON of an event. A finished window has the fields of `sync --json`. Null if the event is not printed. */
export function eventDocument(event: TimedEvent): object | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed': {
      const { time, event: name, report, ...ids } = event;
      return { time, event: name, ...ids, ...windowsDocument([report as WindowReport]).windows[0] };
    }
    case 'delivery':
      // Empty deliveries occur every few minutes and are not printed.
      return event.delivered + event.refused === 0 ? null : event;
    default:
      return event;
  }
}

/** An event as one line of text. Null if it is not printed. */
export function eventLine(event: TimedEvent): string | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed':
      return windowLine(event.report as WindowReport);
    case 'window_not_opened': {
      const { message, todo } = visibleIn(event.error);
      const { installation, time } = event;
      return daemonTexts.notOpened({ installation, at: instantText(time), message, todo });
    }
    case 'delivery':
      if (event.delivered + event.refused === 0) return null;
      return daemonTexts.delivered(event);
    default:
      // Outages are in the log. Opened windows are not printed.
      return null;
  }
}
