import { type Command, Option } from 'commander';
import type { OperateOptions } from '../commands/pausing.ts';
import type { Define } from './define.ts';
import { installation } from './options.ts';

const delivery = new Option('--delivery', 'the delivery to the ERP instead of the windows');
const reason = new Option('--reason <text>', 'why; it is recorded, and shown by `status` and in Temporal');
const by = new Option('--by <name>', 'who answers for it (default: the user of the operating system)');
const yes = new Option('--yes', 'do not ask where all installations are meant');

/** Commands that hold back, let go, end and begin windows and deliveries: pause, resume, cancel, nudge. */
export function defineOperationCommands(program: Command, define: Define): void {
  define<OperateOptions>(program, 'pause', {
    summary: 'hold back the windows of the schedule, or the delivery',
    description:
      'Windows open no more until `resume`; one that is under way ends as usual, and the first one afterwards covers the pause. The pause is kept in PostgreSQL: it outlives restarts of everything, and holds without Temporal, too. `sync` opens a window all the same. Without --installation all are meant, after a question. `--delivery` is the same as `vetledger deliver pause`. In the Temporal UI: pause the Schedule `sync-window/<installation>-<database>`.',
    options: [installation, delivery, reason, by, yes],
    examples: [
      ['vetledger pause --installation 4711 --reason "the practice moves its server"', 'one installation'],
      ['vetledger pause --yes --reason "upgrade of the database" --by "M. Virtanen"', 'all of them'],
      ['vetledger pause --delivery --installation 4711 --reason "the year is being closed"', 'nothing is sent'],
    ],
    action: async (context, options) => (await import('../commands/pausing.ts')).pause(context, options),
  });
  define<OperateOptions>(program, 'resume', {
    summary: 'let paused windows, or a paused delivery, go on',
    options: [installation, delivery, reason, by],
    examples: [
      ['vetledger resume --installation 4711', 'one installation'],
      ['vetledger resume', 'all of them'],
    ],
    action: async (context, options) => (await import('../commands/pausing.ts')).resume(context, options),
  });
  define<OperateOptions>(program, 'cancel', {
    summary: 'end what is under way: windows, backfills, replays, or the delivery',
    description:
      'Each ends in good order: its row says that it was cancelled, its lease is free, and nothing is lost, because the next window covers it. It waits 20 s for that. Nothing is paused: with the schedule the next window opens in its time. In the Temporal UI: Cancel of the workflow.',
    options: [installation, delivery, reason, by, yes],
    examples: [
      ['vetledger cancel --installation 4711 --reason "it stands in the way of the practice"', 'one installation'],
      ['vetledger cancel --delivery --installation 4711 --reason "wrong company"', 'its delivery'],
    ],
    action: async (context, options) => (await import('../commands/pausing.ts')).cancel(context, options),
  });
  define<OperateOptions>(program, 'nudge', {
    summary: 'open a window now through the daemon, without waiting for it',
    description:
      'As if the time of the schedule had come: the window runs in `vetledger run`, at most one waits behind the one under way, and a paused installation stays paused (exit code 1). `sync` runs one in the command and waits. In the Temporal UI: Trigger of the Schedule.',
    options: [installation, delivery, reason, by],
    examples: [
      ['vetledger nudge --installation 4711', 'one installation'],
      ['vetledger nudge --delivery', 'the deliveries of all'],
    ],
    action: async (context, options) => (await import('../commands/pausing.ts')).nudge(context, options),
  });
}
