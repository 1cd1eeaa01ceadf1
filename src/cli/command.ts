import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { isCalendarDate } from '../domain/dates.ts';
import { valueTexts } from '../texts/commands/usage.ts';
import type { CommandContext, CommonOptions } from './context.ts';

/** A command as its file in `commands/` defines it. Its name and summary are in `program.ts`. */
export interface Definition<Options> {
  /** The text of --help. Default: the summary. */
  description?: string;
  /** Command lines with their purpose, for --help and docs/reference/CLI.md. */
  examples: [commandLine: string, purpose: string][];
  options?: Option[];
  /** False if the command reads no configuration. */
  config?: false;
  /** The schema of the JSON on stdout (for `run`, of each line). The tests check every answer against it. */
  answer: z.ZodType;
  /** Runs the command; `names` are its arguments. Returns the exit code. */
  run(context: CommandContext, options: Options & CommonOptions, names: readonly string[]): Promise<number>;
}

/** An option whose value `parse` reads. `parse` throws InvalidArgumentError for an invalid value. */
export function option(flags: string, description: string, parse: (value: string) => unknown): Option {
  return new Option(flags, description).argParser(parse);
}

export const installation = option(
  '--installation <id>',
  'only this installation (default: all of the configuration)',
  wholeNumber,
);

export const by = new Option(
  '--by <name>',
  'the person who is responsible (default: the user of the operating system)',
);
export const second = new Option('--second <name>', 'the second person, if the configuration has `two_persons: true`');

export const yes = new Option('--yes', 'do not ask for confirmation');

export const waitDelivery = option(
  '--wait-delivery <seconds>',
  'how long to wait, after the windows, for the delivery of their entries to the ERP',
  wholeNumber,
).default(60);

export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError(valueTexts.wholeNumber);
  return Number(value);
}

export function decimal(value: string): number {
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) <= 0) throw new InvalidArgumentError(valueTexts.positive);
  return Number(value);
}

export function calendarDate(value: string): string {
  if (!isCalendarDate(value)) throw new InvalidArgumentError(valueTexts.date);
  return value;
}

export function month(value: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(value)) throw new InvalidArgumentError(valueTexts.month);
  return value;
}

export function sha256(value: string): string {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new InvalidArgumentError(valueTexts.sha256);
  return value.toLowerCase();
}

export function webAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new InvalidArgumentError(valueTexts.webAddress);
  return value;
}
