import { type Definition, installation, waitDelivery } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { runAndReport, windowsAnswer } from '../run-windows.ts';

interface Options {
  installation?: number;
  waitDelivery: number;
}

export const command: Definition<Options> = {
  description:
    'Reads the changes since the last window, posts them and writes back. The first window reads everything.',
  options: [installation, waitDelivery],
  examples: [
    ['vetledger sync', 'every installation'],
    ['vetledger sync --installation 4711 --json', 'one installation, with the result as JSON'],
  ],
  answer: windowsAnswer,
  run: sync,
};

function sync(context: CommandContext, options: Options): Promise<number> {
  const { installation, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'sync', waitDeliverySeconds });
}
