import { shown } from '../../languages/language.ts';
import type { InstallationId } from '../../terms.ts';
import { decideTexts, matchFormTexts, pauseTexts } from '../../texts/console/actions.ts';
import { closingTexts } from '../../texts/console/closing.ts';
import {
  deliveryActionTexts,
  reconcileTexts,
  effectTexts as texts,
  windowActionTexts,
} from '../../texts/console/operating.ts';
import { reportNames } from '../../texts/console/reports.ts';
import { type Content, html, local } from '../html.ts';
import { type AskedKind, permittedActions } from '../users/permitted-actions.ts';
import type { Rights } from '../users/rights.ts';

/** The forms that do the same as a command. `words` is the beginning of the command, or its options. */
export const formsOfCommands: readonly { words: RegExp; kind: AskedKind; path: string; title(): string }[] = [
  {
    ...{ words: /^replay\b/, kind: 'price_windows', path: 'read-again?read=failed' },
    title: () => windowActionTexts.titles.replay_windows,
  },
  {
    ...{ words: /^backfill\b/, kind: 'price_windows', path: 'read-again?read=backfill' },
    title: () => windowActionTexts.titles.backfill_windows,
  },
  {
    ...{ words: /^(sync|nudge)\b(?!.*--delivery)/, kind: 'nudge_windows', path: 'read-now' },
    title: () => windowActionTexts.titles.nudge_windows,
  },
  {
    ...{ words: /^nudge\b.*--delivery/, kind: 'nudge_delivery', path: 'deliver-now' },
    title: () => deliveryActionTexts.titles.nudge_delivery,
  },
  {
    ...{ words: /^cancel\b.*--delivery/, kind: 'cancel_delivery', path: 'cancel-delivery' },
    title: () => deliveryActionTexts.titles.cancel_delivery,
  },
  {
    ...{ words: /^cancel\b(?!.*--delivery)/, kind: 'cancel_windows', path: 'cancel' },
    title: () => windowActionTexts.titles.cancel_windows,
  },
  { words: /^pause\b/, kind: 'pause_windows', path: 'pause-windows', title: () => pauseTexts.titles.pause_windows },
  { words: /^resume\b/, kind: 'resume_windows', path: 'resume-windows', title: () => pauseTexts.titles.resume_windows },
  {
    ...{ words: /^deliver pause\b/, kind: 'pause_delivery', path: 'pause-delivery' },
    title: () => pauseTexts.titles.pause_delivery,
  },
  {
    ...{ words: /^deliver resume\b/, kind: 'resume_delivery', path: 'resume-delivery' },
    title: () => pauseTexts.titles.resume_delivery,
  },
  {
    ...{ words: /^deliver\b.*--approve/, kind: 'approve_delivery', path: 'approve' },
    title: () => deliveryActionTexts.titles.approve_delivery,
  },
  {
    ...{ words: /^deliver retry\b/, kind: 'retry_delivery', path: 'resend' },
    title: () => deliveryActionTexts.titles.retry_delivery,
  },
  {
    ...{ words: /^deliver undo\b/, kind: 'undo_delivery', path: 'undo' },
    title: () => deliveryActionTexts.titles.undo_delivery,
  },
  { words: /^reconcile\b/, kind: 'reconcile_books', path: 'reconcile', title: () => reconcileTexts.title },
  { words: /^problems match\b/, kind: 'match_prepayment', path: 'match', title: () => matchFormTexts.title },
  { words: /^late decide\b/, kind: 'decide_late', path: 'late', title: () => decideTexts.title },
  { words: /^ledger close\b/, kind: 'close_books', path: 'close', title: () => closingTexts.closeTitle },
  { words: /^ledger reopen\b/, kind: 'reopen_books', path: 'reopen', title: () => closingTexts.reopenTitle },
];

/**
 * What to do about an error, for the reader of a page: with links to the forms of the commands that it names, as far as the reader
 * may use them. For a reader who cannot do all of it here, the text says who can.
 */
export function nextStep(rights: Rights, installation: InstallationId, todo: string): Content {
  const { links, asks } = stepsIn(rights, installation, todo);
  return html`${withReports(rights, installation, shown(todo))}${links}${asks ? ` ${texts.askOperator}` : null}`;
}

const reportCommand = /`(?:vetledger )?report ([a-z-]+)([^`]*)`/;

/** A text with links to the reports that its commands print, as far as the reader may see them. `month` if a command names no day. */
export function withReports(rights: Rights, installation: InstallationId, text: string, month?: string): Content {
  const [command, name = '', options = ''] = reportCommand.exec(text) ?? [];
  if (command === undefined || !Object.hasOwn(reportNames, name) || !rights.may('read_books', installation))
    return text;
  const [, day] = /--as-of (\d{4}-\d{2}-\d{2})/.exec(options) ?? [];
  const address = local(`/${installation}/reports/${name}`, {
    as_of: day,
    month: day === undefined ? month : undefined,
  });
  const [before, after] = [text.slice(0, text.indexOf(command)), text.slice(text.indexOf(command) + command.length)];
  return [
    before,
    html`<a href=${address}>${reportNames[name as keyof typeof reportNames]}</a>`,
    withReports(rights, installation, after, month),
  ];
}

/** Links to the forms that do the same as the commands in a text. `asks`: the reader needs an operator for the others. */
export function stepsIn(rights: Rights, installation: InstallationId, todo: string): { links: Content; asks: boolean } {
  const named = [...todo.matchAll(/`vetledger ([^`]+)`/g)].flatMap(([command, words = '']) =>
    withReports(rights, installation, command) === command ? [words] : [],
  );
  const found = named.map((command) => formsOfCommands.find(({ words }) => words.test(command)) ?? null);
  const usable = found.flatMap((each) =>
    each !== null && rights.may(permittedActions[each.kind], installation) ? [each] : [],
  );
  const links = [...new Set(usable)].map(({ path, title }) => [
    ' ',
    html`<a href=${local(`/${installation}/actions/${path}`)}>${title()}</a>`,
  ]);
  return { links, asks: usable.length < named.length && !rights.may('operate', installation) };
}
