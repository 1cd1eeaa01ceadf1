import { z } from 'zod';
import type { Definition } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { changeWindows, type OperateOptions, operateOptions, whoAndWhy } from '../operating.ts';
import { resume as resumeDelivery } from './deliver-resume.ts';

const answer = z.strictObject({
  resumed: z.array(z.number()),
  /** Whether Temporal could be reached. Absent for deliveries. */
  temporal: z.boolean().optional(),
});

export const command: Definition<OperateOptions> = {
  options: operateOptions,
  examples: [
    ['vetledger resume --installation 4711', 'one installation'],
    ['vetledger resume', 'all of them'],
  ],
  answer,
  run: resume,
};

async function resume(context: CommandContext, options: OperateOptions): Promise<number> {
  const stated = whoAndWhy(options, 'resume');
  if (options.delivery) return resumeDelivery(context, options);
  return changeWindows(context, options, stated, false);
}
