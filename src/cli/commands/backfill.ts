import { calendarDate, type Definition, installation, option, waitDelivery } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { runAndReport, windowsAnswer } from '../run-windows.ts';

interface Options {
  installation?: number;
  from?: string;
  waitDelivery: number;
}

export const command: Definition<Options> = {
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
  answer: windowsAnswer,
  run: backfill,
};

/** Loads everything again, or the invoices dated from a day on. */
function backfill(context: CommandContext, options: Options): Promise<number> {
  const { installation, from = null, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'backfill', from, waitDeliverySeconds });
}
