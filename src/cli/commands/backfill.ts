import { calendarDate, type Definition, installation, option, waitDelivery } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { runAndReport, windowsAnswer } from '../run-windows.ts';

interface Options {
  installation?: number;
  from?: string;
  waitDelivery: number;
}

export const command: Definition<Options> = {
  description:
    'Reads the whole source again, or its invoices from a date on, without moving the cursors of the live windows.',
  options: [
    installation,
    option('--from <date>', 'only invoices dated from this day on (YYYY-MM-DD)', calendarDate),
    waitDelivery,
  ],
  examples: [
    ['vetledger backfill', 'everything of every installation'],
    ['vetledger backfill --installation 4711 --from 2026-01-01', 'this year of one installation'],
  ],
  answer: windowsAnswer,
  run: backfill,
};

function backfill(context: CommandContext, options: Options): Promise<number> {
  const { installation, from = null, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'backfill', from, waitDeliverySeconds });
}
