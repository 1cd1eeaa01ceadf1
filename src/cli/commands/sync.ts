import { type Definition, installation, waitDelivery } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { runAndReport, windowsAnswer } from '../run-windows.ts';

interface Options {
  installation?: number;
  waitDelivery: number;
}

export const command: Definition<Options> = {
  description: 'Pulls what changed since the last window, posts it and writes back. The first one loads everything.',
  options: [installation, waitDelivery],
  examples: [
    ['vetledger sync', 'every installation'],
    ['vetledger sync --installation 4711 --json', 'one installation, the figures as JSON'],
  ],
  answer: windowsAnswer,
  run: sync,
};

/** One window of each installation now. */
function sync(context: CommandContext, options: Options): Promise<number> {
  const { installation, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'sync', waitDeliverySeconds });
}
