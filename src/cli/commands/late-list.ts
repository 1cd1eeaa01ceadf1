import { type Definition, installation } from '../command.ts';
import { answer, list } from './late.ts';

/** `vetledger late list` does the same as `vetledger late`. */
export const command: Definition<{ installation?: number }> = {
  options: [installation],
  examples: [['vetledger late list', 'what needs a decision']],
  answer,
  run: list,
};
