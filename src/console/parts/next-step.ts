import { shown } from '../../languages/language.ts';
import type { InstallationId } from '../../terms.ts';
import { actionNames } from '../../texts/console/actions.ts';
import { effectTexts as texts } from '../../texts/console/operating.ts';
import { type Content, html, local } from '../html.ts';
import { type AskedKind, permittedActions } from '../users/permitted-actions.ts';
import type { Rights } from '../users/rights.ts';

/** The forms that do the same as a command. `words` is the beginning of the command, or its options. */
export const formsOfCommands: readonly { words: RegExp; kind: AskedKind; path: string }[] = [
  { words: /^replay\b/, kind: 'price_windows', path: 'read-again?read=failed' },
  { words: /^backfill\b/, kind: 'price_windows', path: 'read-again?read=backfill' },
  { words: /^(sync|nudge)\b(?!.*--delivery)/, kind: 'nudge_windows', path: 'read-now' },
  { words: /^cancel\b(?!.*--delivery)/, kind: 'cancel_windows', path: 'cancel' },
  { words: /^(pause|resume|deliver pause|deliver resume)\b/, kind: 'resume_windows', path: 'pauses' },
  { words: /^deliver\b.*--approve/, kind: 'approve_delivery', path: 'approve' },
  { words: /^deliver retry\b/, kind: 'retry_delivery', path: 'resend' },
  { words: /^deliver undo\b/, kind: 'undo_delivery', path: 'undo' },
  { words: /^late decide\b/, kind: 'decide_late', path: 'late' },
  { words: /^ledger close\b/, kind: 'close_books', path: 'close' },
  { words: /^ledger reopen\b/, kind: 'reopen_books', path: 'reopen' },
];

/**
 * What to do about an error, for the reader of a page: with links to the forms of the commands that it names, as far as the reader
 * may use them. For a reader who cannot do all of it here, the text says who can.
 */
export function nextStep(rights: Rights, installation: InstallationId, todo: string): Content {
  const named = [...todo.matchAll(/`vetledger ([^`]+)`/g)].map(([, words = '']) => words);
  const found = named.map((command) => formsOfCommands.find(({ words }) => words.test(command)) ?? null);
  const usable = found.flatMap((each) =>
    each !== null && rights.may(permittedActions[each.kind], installation) ? [each] : [],
  );
  const links = [...new Set(usable)].map(({ kind, path }) => [
    ' ',
    html`<a href=${local(`/${installation}/actions/${path}`)}>${actionNames[kind]}</a>`,
  ]);
  const asks = usable.length < named.length && !rights.may('operate', installation);
  return html`${shown(todo)}${links}${asks ? ` ${texts.askOperator}` : null}`;
}
