import { type Command, Option } from 'commander';
import type { ReplayCommandOptions } from '../commands/replay.ts';
import type { Define } from './define.ts';
import { calendarDate, installation, option, waitDelivery, wholeNumber } from './options.ts';

/** Commands that open windows, and the list of windows: dev, run, sync, backfill, windows, replay. */
export function defineWindowCommands(program: Command, define: Define): void {
  define<{ once?: true; ui: boolean; erp?: 'tryton' }>(program, 'dev', {
    summary: 'the demo: everything embedded, with a sandbox clinic that goes on living',
    description:
      'Starts an embedded PostgreSQL and Temporal server and a sandbox clinic, loads its history, posts and reconciles it, and goes on until Ctrl-C. Data is kept under .vetledger (or VETLEDGER_DATA_DIR); the next start goes on where it was. With --erp tryton, a Tryton server is installed and started beside it (Python is needed, and some minutes the first time), and everything is delivered into it; this demo has data of its own.',
    config: false,
    options: [
      new Option(
        '--once',
        'end after the first sync and its delivery; exit code 0 only if reconciled and all of it delivered',
      ),
      new Option('--no-ui', 'without the web UI of Temporal'),
      new Option('--erp <kind>', 'deliver to a real ERP, too').choices(['tryton']),
    ],
    examples: [
      ['vetledger dev', 'try vetledger out'],
      ['vetledger dev --once', 'one sync, reconciled, and the end'],
      ['vetledger dev --erp tryton', 'see the entries in an ERP'],
    ],
    action: async (context, options) => (await import('../commands/dev.ts')).dev(context, options),
  });
  define(program, 'run', {
    summary: 'the daemon: schedules and worker',
    description:
      'Opens a window of every installation as often as `schedule.every` says, until Ctrl-C or SIGTERM. Each window is one line on stdout.',
    examples: [['vetledger run --config /etc/vetledger/vetledger.yaml', 'run as a service']],
    action: async (context) => (await import('../commands/run.ts')).run(context),
  });
  define<{ installation?: number; waitDelivery: number }>(program, 'sync', {
    summary: 'one window now, waited for',
    description: 'Pulls what changed since the last window, posts it and writes back. The first one loads everything.',
    options: [installation, waitDelivery],
    examples: [
      ['vetledger sync', 'every installation'],
      ['vetledger sync --installation 4711 --json', 'one installation, the figures as JSON'],
    ],
    action: async (context, options) => (await import('../commands/sync.ts')).sync(context, options),
  });
  define<{ installation?: number; from?: string; waitDelivery: number }>(program, 'backfill', {
    summary: 'load everything again, beside the live windows',
    description: 'Walks the whole source, or its invoices from a date on, without moving the live windows’ watermarks.',
    options: [
      installation,
      option('--from <date>', 'only invoices dated from this day on (YYYY-MM-DD)', calendarDate),
      waitDelivery,
    ],
    examples: [
      ['vetledger backfill', 'all of every installation'],
      ['vetledger backfill --installation 4711 --from 2026-01-01', 'this year of one installation'],
    ],
    action: async (context, options) => (await import('../commands/sync.ts')).backfill(context, options),
  });
  define<{ installation?: number; failed?: true; gaps?: true; limit: number }>(program, 'windows', {
    summary: 'the latest windows and how they ended',
    description:
      'The latest windows and how they ended. A failed one is covered once later windows or a replay have read and posted what it left; `covered by` names them. With --gaps: whether the windows have left anything unread between them; exit code 1 where they have.',
    options: [
      installation,
      new Option('--failed', 'only those that failed, covered ones included'),
      new Option('--gaps', 'check that each window began where the one before it had ended').conflicts('failed'),
      option('--limit <n>', 'how many', wholeNumber).default(20),
    ],
    examples: [
      ['vetledger windows', 'the last twenty'],
      ['vetledger windows --failed', 'what went wrong lately, and what covers it'],
      ['vetledger windows --gaps', 'prove that nothing was left out'],
    ],
    action: async (context, options) => (await import('../commands/windows.ts')).windows(context, options),
  });
  define<ReplayCommandOptions>(program, 'replay [window...]', {
    summary: 'read windows again, beside the live ones',
    description:
      'Reads windows, or times, again from the source, or judges again what the mirror holds of them (--from-mirror). It is safe at any time: it moves no cursor of the live windows, and nothing is posted twice. It prints beforehand what it costs, and asks on a terminal where that is much; afterwards it says what has changed, which is usually nothing. A failed window that it has read counts as covered.',
    options: [
      installation,
      new Option('--failed', 'every failed window that nothing covers yet'),
      new Option(
        '--from <time>',
        'from this time of the source on: 2026-03-01T08:00:00Z, or a day; widened to whole windows',
      ),
      new Option('--to <time>', 'up to this time'),
      new Option('--from-mirror', 'ask the source nothing: judge and post what the mirror holds'),
      new Option('--dry-run', 'print what it would cost, and end'),
      new Option('--yes', 'do not ask'),
      waitDelivery,
    ],
    examples: [
      ['vetledger replay --failed', 'what failed and nothing has covered since'],
      ['vetledger replay 1204 1205 --dry-run', 'what two windows would cost'],
      ['vetledger replay --installation 4711 --from 2026-03-01 --to 2026-03-02', 'a day of one installation'],
      ['vetledger replay 1204 --from-mirror', 'without a question to the source'],
    ],
    action: async (context, options, names) => (await import('../commands/replay.ts')).replay(context, options, names),
  });
}
