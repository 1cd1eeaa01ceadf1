import { type Command, Option } from 'commander';
import type { ReplayCommandOptions } from '../commands/replay.ts';
import type { Define } from './define.ts';
import { installation, waitDelivery } from './options.ts';

/** Commands that open windows, and the list of windows: dev, run, sync, backfill, windows, replay. */
export function defineWindowCommands(program: Command, define: Define): void {
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
