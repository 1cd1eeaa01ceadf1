import { Help, type HelpConfiguration } from 'commander';
import { helpText, inLanguage, shown } from '../languages/language.ts';
import type { Language } from '../texts/catalogue.ts';
import { exitCodes } from '../texts/exit-codes.ts';

const plain = new Help();

/** The description of a command that has only a summary. */
export function sentenceOf(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** How commander writes `--help` in a language: the texts of commands and options, and its own words. */
export function helpIn(language: Language): HelpConfiguration {
  const words = wordsIn(language);
  return {
    styleTitle: words,
    subcommandDescription: (command) => words(command.summary()),
    commandDescription: (command) => {
      const text = command.description();
      return text === sentenceOf(command.summary()) ? sentenceOf(words(command.summary())) : words(text);
    },
    optionDescription: (option) => {
      const text = plain.optionDescription(Object.assign(Object.create(option), { description: '' }));
      const facts = text.replace(/\b(choices|default): /g, (_, word: string) => `${words(word)}: `);
      return [words(option.description), facts].filter((part) => part !== '').join(' ');
    },
  };
}

/** The examples of a command, for the end of its help. */
export function examplesText(examples: readonly [commandLine: string, purpose: string][], language: Language): string {
  const words = wordsIn(language);
  const lines = examples.map(([line, purpose]) => `  $ ${line}\n      ${words(purpose)}`);
  return `\n${words('Examples:')}\n${lines.join('\n')}`;
}

export function exitCodesText(language: Language): string {
  const words = wordsIn(language);
  const lines = inLanguage(language, () => Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`));
  return `\n${words('Exit codes:')}\n${lines.join('\n')}\n\n${words('Start with:')} vetledger dev`;
}

/** Gives a text of the help in a language. Descriptions of reports are in the catalogue. */
function wordsIn(language: Language): (text: string) => string {
  return (text) => helpText(text, language) ?? shown(text, language);
}
