import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { isCalendarDate } from '../domain/dates.ts';
import type { CommandContext, CommonOptions } from './context.ts';

/** What a file of `commands/` says of its command. Its name and its line in the help stand in `program.ts`. */
export interface Definition<Options> {
  /** The help's text; without it, the line of the list. */
  description?: string;
  /** Command lines with what each is for, shown by --help and in docs/reference/CLI.md. */
  examples: [commandLine: string, purpose: string][];
  options?: Option[];
  /** False for the commands that read no configuration. */
  config?: false;
  /** What --json prints (of `run`: each line), as it is on stdout. The tests check every answer against it. */
  answer: z.ZodType;
  /** Runs the command with its arguments; returns its exit code. */
  run(context: CommandContext, options: Options & CommonOptions, names: readonly string[]): Promise<number>;
}

/** An option whose value `parse` reads, or refuses with InvalidArgumentError. */
export function option(flags: string, description: string, parse: (value: string) => unknown): Option {
  return new Option(flags, description).argParser(parse);
}

export const installation = option(
  '--installation <id>',
  'only this installation (default: every one of the configuration)',
  wholeNumber,
);

/** Who does what is recorded, as `actedBy` and `personsOf` read it. */
export const by = new Option('--by <name>', 'who answers for it (default: the user of the operating system)');
export const second = new Option(
  '--second <name>',
  'the second person, where the configuration says `two_persons: true`',
);

export const yes = new Option('--yes', 'do not ask');

export const waitDelivery = option(
  '--wait-delivery <seconds>',
  'wait so long, after the windows, for what they posted to be delivered to the ERP',
  wholeNumber,
).default(60);

export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

export function decimal(value: string): number {
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) <= 0)
    throw new InvalidArgumentError('It must be a number above 0.');
  return Number(value);
}

export function calendarDate(value: string): string {
  if (!isCalendarDate(value)) throw new InvalidArgumentError('It must be a date like 2026-01-31.');
  return value;
}

export function sha256(value: string): string {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new InvalidArgumentError('It must be 64 digits of 0-9 and a-f.');
  return value.toLowerCase();
}

export function webAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value))
    throw new InvalidArgumentError('It must be an http address.');
  return value;
}
