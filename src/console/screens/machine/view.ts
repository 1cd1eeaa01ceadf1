import type { InstallationConfig } from '../../../config/load-config.ts';
import { labelOf } from '../../../domain/installation-name.ts';
import { currentLanguage, shown } from '../../../languages/language.ts';
import type { MailTrouble } from '../../../mail/outbox.ts';
import type { DatabaseState, Process } from '../../../queries/machine.ts';
import type { WatchedSchedule, WindowPace } from '../../../sync/schedule-state.ts';
import { labels } from '../../../texts/commands/labels.ts';
import { machineTexts as texts } from '../../../texts/console/machine.ts';
import { timeIn } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { facts } from '../../parts/facts.ts';
import { table } from '../../parts/table.ts';
import { ago, seen, staleSeconds } from '../../parts/times.ts';

interface Shown {
  now: Date;
  version: string;
  installations: readonly InstallationConfig[];
  processes: readonly Process[];
  database: DatabaseState;
  schedules: readonly WatchedSchedule[];
  paces: readonly WindowPace[];
  mail: MailTrouble | null;
}

/** Machines of several clinics have no common zone, so their times are in UTC. */
const at = timeIn('UTC');

export function machineView(of: Shown): Node {
  return html`<section><h2>${texts.processes}</h2>${processesView(of)}</section>
    <section><h2>${texts.database}</h2>${databaseView(of)}</section>
    <section><h2>${texts.schedules}</h2>${schedulesView(of)}</section>
    <section><h2>${texts.mail}</h2>${mailView(of)}</section>`;
}

function processesView({ processes, version, now }: Shown): Node {
  const titles = [
    ...[texts.command, texts.host, texts.process, texts.version, texts.installations, texts.started],
    ...[texts.heard, texts.temporal],
  ];
  const isServed = processes.some(({ heardSecondsAgo }) => heardSecondsAgo <= staleSeconds);
  return html`${isServed ? null : html`<p class="needed">${texts.noDaemon}</p>`}
  ${table({
    columns: titles.map((title) => ({ title })),
    rows: processes.map((each) => {
      const isStale = each.heardSecondsAgo > staleSeconds;
      const gone = each.temporalGoneSince;
      const cells: Content[] = [
        ...[each.command, each.host, each.process],
        each.version === version || isStale
          ? each.version
          : html`${each.version} <span class="needed">${texts.otherVersion}</span>`,
        ...[each.installations.join(', '), at(each.startedAt), secondsAgo(each.heardSecondsAgo, now)],
        gone === null ? texts.answers : html`<span class="needed">${texts.goneSince({ at: at(gone) })}</span>`,
      ];
      return isStale ? cells.map((cell) => html`<span class="stale">${cell}</span>`) : cells;
    }),
  })}`;
}

function secondsAgo(seconds: number, now: Date): string {
  return ago(new Date(now.getTime() - seconds * 1000), now, currentLanguage());
}

function databaseView({ database, version, now }: Shown): Node {
  const { schema: name, migratedAt, backupSecondsAgo: backup } = database;
  return facts([
    [texts.serverVersion, database.version],
    [texts.schema, texts.schemaText({ name, at: at(migratedAt) })],
    [texts.size, sizeText(database)],
    [texts.writes, database.isReadOnly ? html`<span class="needed">${texts.readOnly}</span>` : texts.accepted],
    [
      texts.backup,
      backup === null
        ? html`<span class="needed">${texts.noBackup}</span>`
        : texts.backupText({ ago: secondsAgo(backup, now) }),
    ],
    [texts.console, version],
  ]);
}

function sizeText({ bytes, growth }: DatabaseState): string {
  const megabytes = Math.ceil(bytes / 1_048_576);
  if (growth === null) return texts.sizeText({ megabytes });
  return texts.growthText({ megabytes, grown: Math.round(growth.bytes / 1_048_576), days: growth.days });
}

function schedulesView({ installations, schedules, paces, now }: Shown): Node {
  return table({
    columns: [
      ...[texts.clinic, texts.state, texts.next, texts.seen].map((title) => ({ title })),
      ...[texts.missed, texts.skipped, texts.dropped].map((title) => ({ title, isNumber: true })),
      { title: texts.lastWindow },
    ],
    rows: installations.map(({ id, name }) => {
      const watched = schedules.find(({ installation }) => installation === id);
      const opened = paces.find(({ installation }) => installation === id)?.openedAt ?? null;
      return [
        html`<a href=${`/${id}/windows`}>${labelOf({ id, name })}</a>`,
        stateView(watched),
        watched?.nextAt && at(watched.nextAt),
        watched?.seenAt && seen(watched.seenAt, now),
        ...[watched?.missed, watched?.skipped, watched?.dropped],
        opened === null ? labels.never : ago(opened, now, currentLanguage()),
      ];
    }),
  });
}

/** The state of a Schedule: it runs, is paused by whom, or is missing. */
export function stateView(watched: WatchedSchedule | undefined): Content {
  if (watched === undefined) return html`<span class="needed">${texts.noSchedule}</span>`;
  if (watched.isMissing) return html`<span class="needed">${texts.missing}</span>`;
  if (!watched.paused) return texts.runs;
  return html`<span class="needed">${texts.paused({ note: watched.note ?? '' })}</span>`;
}

function mailView({ mail }: Shown): Node {
  if (mail === null) return html`<p>${texts.mailWorks}</p>`;
  const { waiting, given_up: givenUp, since, error } = mail;
  const reason = error === null ? '' : shown(error.message);
  return html`<p class="needed">${texts.mailFails({ waiting, givenUp, at: at(since) })}</p>
    <p>${reason}</p>`;
}
