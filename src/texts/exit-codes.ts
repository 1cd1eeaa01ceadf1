import { catalogue } from './catalogue.ts';

/** Meanings of the exit codes of the commands (DESIGN "Exit codes"). `--help` and docs/reference/CLI.md show them. */
export const exitCodes = catalogue('exit-codes.exitCodes', {
  0: 'success; held documents are reported, but do not change the exit code',
  1: 'a check found a difference, or something that the command names does not exist',
  2: 'wrong usage, configuration or mapping file, or a secret written into the configuration',
  3: 'no window opened, because PostgreSQL, Temporal or the practice API cannot be reached or refuses the credentials; `deliver`: the same for the ERP; also if another program uses an address on which vetledger must listen',
  4: 'the window of an installation failed; the next scheduled one covers it',
} as const);
