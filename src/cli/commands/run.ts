import { z } from 'zod';
import type { Config } from '../../config/load-config.ts';
import { codeOf } from '../../domain/errors.ts';
import type { TimedEvent } from '../../domain/events.ts';
import { labelOf } from '../../domain/installation-name.ts';
import { visibleIn } from '../../domain/text.ts';
import { runDaemon } from '../../windows/daemon.ts';
import type { WindowReport } from '../../windows/run-window.ts';
import { instant, plainError } from '../answer.ts';
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
    'Opens a window of every installation as often as `schedule.every` says, until Ctrl-C or SIGTERM. Each window is one line on stdout.',
  examples: [['vetledger run --config /etc/vetledger/vetledger.yaml', 'run as a service']],
  answer,
  run,
};

/** The daemon. With --json each event is one JSON document on a line of its own. */
function run(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: true, logLevel: 'info', handlesSignal: true, pacesSignIn: true }, async (app) => {
    const { installations } = app.config;
    const told = installations.length > 10 ? String(installations.length) : installations.map(labelOf).join(', ');
    context.note(
      `vetledger: installations ${told}, a window every ${app.config.schedule.everySeconds} s; Ctrl-C ends it`,
    );
    context.signal.addEventListener('abort', () => endAnyhow(context), { once: true });
    const lines = new Lines(context, () => app.log.warn('stdout is not read; events are dropped until it is'));
    const unsubscribe = app.events.on((told) => {
      const event = withName(app.config, told);
      const document = context.json ? eventDocument(event) : null;
      const text = context.json ? document && JSON.stringify(document) : eventLine(event);
      if (text !== null) lines.print(text);
    });
    try {
      await runDaemon(app, {
        signal: AbortSignal.any([context.signal, lines.ended]),
        ...(context.io.onHangup ? { reloads: { env: context.env, subscribe: context.io.onHangup } } : {}),
        onObserving: (url) => context.note(`metrics: ${url}/metrics; health: ${url}/healthz and ${url}/readyz`),
        onListening: (url) => context.note(`webhooks: POST ${url}/<installation>/<secret>`),
      });
    } finally {
      unsubscribe();
    }
    await lines.written();
    return 0;
  });
}

/** The event with the name of its installation, where that has one. */
function withName(config: Config, event: TimedEvent): TimedEvent {
  if (event.installation === null) return event;
  const [found = event] = named(config, [{ ...event, installation: event.installation }]);
  return 'report' in found ? { ...found, report: named(config, [found.report as WindowReport])[0] ?? {} } : found;
}

/** A supervisor kills what has not ended within 30 s of its SIGTERM. */
const endWithinMs = 28_000;

/** Ends the process where something keeps it: what was under way goes on with the next daemon, as after a kill. */
function endAnyhow(context: CommandContext): void {
  setTimeout(() => {
    context.note(`not everything ended within ${endWithinMs / 1000} s; the next daemon goes on with it`);
    process.exit(0);
  }, endWithinMs).unref();
}

/** The lines that wait for stdout at most; a reader that stands still must not fill the memory. */
const waitingAtMost = 10_000;

/** Prints lines one after another. When the reader has closed stdout, `ended` aborts and `written` throws. */
class Lines {
  readonly #context: CommandContext;
  readonly #dropped: () => void;
  readonly #ending = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `dropped` is called when a line is dropped because too many wait, once until they are read again. */
  constructor(context: CommandContext, dropped: () => void) {
    this.#context = context;
    this.#dropped = dropped;
    // Whether anybody reads shows with a line that was written, not only with the next one.
    context.io.stdout.once('error', (error) => this.#end(codeOf(error) === 'EPIPE' ? new OutputClosed() : error));
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  print(line: string): void {
    if (this.#waiting === waitingAtMost) this.#dropped();
    this.#waiting += 1;
    if (this.#waiting > waitingAtMost) return;
    this.#last = this.#last.then(() => this.#write(line));
  }

  /** Waits until all lines are out. Throws OutputClosed where nobody reads them, or why they could not be written. */
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
    this.#waiting = Math.max(0, Math.min(this.#waiting, waitingAtMost) - 1);
  }

  /** A daemon that nobody listens to any more ends, as any command in a pipe does. */
  #end(error: unknown): void {
    this.#ending.abort(error);
  }
}

/** An event as `run --json` prints it: of a window that ended it holds what `sync --json` has of it. Null: it is not printed. */
export function eventDocument(event: TimedEvent): object | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed': {
      const { time, event: name, report, ...ids } = event;
      return { time, event: name, ...ids, ...windowsDocument([report as WindowReport]).windows[0] };
    }
    case 'delivery':
      // One that neither delivered nor was refused anything comes every few minutes.
      return event.delivered + event.refused === 0 ? null : event;
    default:
      return event;
  }
}

/** An event as one line for people. Null: it is not printed. */
export function eventLine(event: TimedEvent): string | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed':
      return windowLine(event.report as WindowReport);
    case 'window_not_opened': {
      const { message, todo } = visibleIn(event.error);
      return `${instantText(event.time)}  installation ${event.installation} the window could not be opened | ${message} | what to do: ${todo}`;
    }
    case 'delivery':
      if (event.delivered + event.refused === 0) return null;
      return `installation ${event.installation} delivered ${event.delivered} | ${event.refused} refused, ${event.left} left`;
    default:
      // The log tells of outages; of windows that open, nothing.
      return null;
  }
}
