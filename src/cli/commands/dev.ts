import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { runDev } from '../dev.ts';

export function dev(context: CommandContext, options: { once?: true; ui: boolean; erp?: 'tryton' }): Promise<number> {
  return runDev({
    once: options.once === true,
    ui: options.ui,
    erp: options.erp ?? null,
    dataDir: resolve(context.env.VETLEDGER_DATA_DIR || '.vetledger'),
    env: context.env,
    signal: context.signal,
    json: context.json,
  });
}
