import type { Command, Option } from 'commander';
import { CommandContext, type CommonOptions, type Io } from '../context.ts';

export interface Definition<Options> {
  /** One line, for the list of commands; a sentence of it is the description where there is none. */
  summary: string;
  description?: string;
  /** Command lines with what each is for, shown by --help and in docs/CLI.md. */
  examples: [commandLine: string, purpose: string][];
  options?: Option[];
  /** False for the commands that read no configuration. */
  config?: false;
  /** Runs the command with its arguments; returns its exit code. */
  action(context: CommandContext, options: Options & CommonOptions, names: readonly string[]): Promise<number>;
}

/** Adds a command under `parent`; `usage` is its name and its arguments. */
export type Define = <Options>(parent: Command, usage: string, definition: Definition<Options>) => Command;

const examples = new WeakMap<Command, [string, string][]>();

/** The examples of a command; none where it is only a group of commands. */
export function examplesOf(command: Command): [string, string][] {
  return examples.get(command) ?? [];
}

/** The function that adds commands; each has the common options, and gives its exit code to `finished`. */
export function definer(io: Io, finished: (exitCode: number) => void): Define {
  return <Options>(parent: Command, usage: string, definition: Definition<Options>) => {
    const command = parent
      .command(usage)
      .summary(definition.summary)
      .description(definition.description ?? sentence(definition.summary))
      .helpOption('--help', 'print this help');
    for (const each of definition.options ?? []) command.addOption(each);
    if (definition.config !== false) command.option('--config <file>', 'configuration file', 'vetledger.yaml');
    command.option('--json', 'print one JSON document on stdout; everything else goes to stderr');
    command.option('--debug', 'print stack traces of errors (or VETLEDGER_DEBUG=1)');
    command.addHelpText('after', examplesText(definition.examples));
    examples.set(command, definition.examples);
    command.action(async () => {
      const options = command.opts<Options & CommonOptions>();
      const names = command.processedArgs.flat().flatMap((name) => (name === undefined ? [] : String(name)));
      finished(await definition.action(new CommandContext(io, options), options, names));
    });
    return command;
  };
}

/** A command that only holds others. */
export function group(parent: Command, name: string, summary: string): Command {
  return parent.command(name).summary(summary).description(sentence(summary)).helpOption('--help', 'print this help');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function examplesText(lines: [string, string][]): string {
  return `\nExamples:\n${lines.map(([line, purpose]) => `  $ ${line}\n      ${purpose}`).join('\n')}`;
}
