import { changedIdentities } from '../bookkeeping/identity.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { MailConfig, Recipient } from '../config/mail.ts';
import type { Connection } from '../db/rows.ts';
import { dateIn } from '../domain/dates.ts';
import { inLanguage, loadLanguage } from '../languages/language.ts';
import { composeMail } from '../mail/compose.ts';
import { type NoticeAbout, type Subscription, type Topic, topics } from '../mail/notices.ts';
import {
  claimMail,
  decideMails,
  markKey,
  type NewMail,
  noteNotSent,
  noteSent,
  type OutboxMail,
  readMarks,
} from '../mail/outbox.ts';
import { type Letter, MailError, sendLetter } from '../mail/smtp.ts';
import { dailyNews, dailyTurn, monthlyNews, monthlyTurn, seenUntil } from '../queries/mail-days.ts';
import { type EventMarks, type EventTopic, eventMails, eventMarks } from '../queries/mail-events.ts';
import { whoAndWhere } from '../queries/problem-documents.ts';
import type { App } from '../runtime/app.ts';
import { windowPaces } from '../sync/schedule-state.ts';
import type { DocumentRef } from '../terms.ts';
import { startLooks } from './looks.ts';

/** Maximum number of mails per look, so that the daemon notices new events while many mails wait. */
const mailsPerLook = 20;

/**
 * Sends the mails of the configuration. It is a loop of the daemon that depends only on PostgreSQL and the mail server, and nothing
 * waits for it.
 */
export function startMailing(app: App, everyMs?: number): { stop(): Promise<void> } {
  return startLooks(app, new Mailing(app), 'mail could not be decided or sent; this is retried in a minute', everyMs);
}

/** The parts of the app that mailing uses. */
export type MailingPorts = Pick<App, 'db' | 'config' | 'clock' | 'log' | 'databaseId' | 'practice'>;

/** A subscription with the configuration of its installation. */
interface Subscribed {
  installation: InstallationConfig;
  recipient: Recipient;
  topic: Topic;
}

/** The monthly notice of each installation that one look has already made; null if the installation has none. */
type MonthlyNotices = Map<number, NoticeAbout<'monthly'> | null>;

/** Decides and sends mails when called. It has no timer, so that tests can call it at any time. */
export class Mailing {
  readonly #app: MailingPorts;
  /** Whether the last attempt failed because of the mail server. */
  #isFailing = false;

  constructor(app: MailingPorts) {
    this.#app = app;
  }

  /** Decides which mails are to be sent, and sends those that are due. Throws if the database does not answer. */
  async look(signal: AbortSignal): Promise<void> {
    const { db, config } = this.#app;
    if (config.mail === null) return;
    // The books of the other installations belong to another configuration.
    const changed = await changedIdentities(db, config.installations);
    const served = config.installations.filter(({ id }) => !changed.has(id));
    const subscribed = served.flatMap((installation) => subscriptionsOf(installation, config.mail?.recipients ?? []));
    await this.#decide(served, subscribed, signal);
    await this.#send(config.mail, subscribed, signal);
  }

  async #decide(
    served: readonly InstallationConfig[],
    subscribed: readonly Subscribed[],
    signal: AbortSignal,
  ): Promise<void> {
    const { db, clock, log } = this.#app;
    const ids = served.map(({ id }) => id);
    const marks = await readMarks(db, ids);
    const events = await eventMarks(db, served);
    const loaded = new Set(
      (await windowPaces(db, ids, 0)).flatMap(({ installation, syncedTo }) => (syncedTo === null ? [] : installation)),
    );
    /** All recipients of an installation get the same monthly notice, which is costly to make. */
    const monthly: MonthlyNotices = new Map();
    for (const { installation, recipient, topic } of subscribed) {
      if (signal.aborted) return;
      const of = { installation: installation.id, recipient: recipient.address, topic };
      const before = marks.get(markKey(of)) ?? null;
      const now = clock();
      try {
        const decided = isEventTopic(topic)
          ? await this.#event(installation, topic, before, events.get(installation.id), now)
          : loaded.has(installation.id)
            ? await (topic === 'daily'
                ? this.#daily(installation, before, now)
                : this.#monthly(installation, before, now, monthly))
            : null;
        if (decided !== null) await decideMails(db, of, { before, ...decided }, now);
      } catch (err) {
        log.warn(
          { err, installation: installation.id, topic },
          'mail could not be decided; this is retried in a minute',
        );
      }
    }
  }

  async #event(
    installation: InstallationConfig,
    topic: EventTopic,
    before: string | null,
    present: EventMarks | undefined,
    now: Date,
  ): Promise<Decided | null> {
    const after = present?.[topic];
    if (after === undefined || after === before) return null;
    return { after, mails: await eventMails(this.#app.db, installation, topic, { before, after }, now) };
  }

  /** The mark is the day of the last turn, and the time up to which its mail covers problems. */
  async #daily(installation: InstallationConfig, before: string | null, now: Date): Promise<Decided | null> {
    const turn = dailyTurn(installation.timezone, now);
    const { day } = turn;
    // A new recipient gets his first mail at the next turn, about everything that is open.
    if (before === null) return { after: day, mails: [] };
    const [lastDay = '', seen] = before.split(' ');
    if (lastDay >= day) return null;
    const until = seenUntil(now);
    const after = seen === undefined ? null : new Date(seen);
    const notice = await dailyNews(this.#app.db, installation, { day, after, until });
    const mark = `${day} ${until.toISOString()}`;
    return { after: mark, mails: notice === null ? [] : [{ cause: 'daily', notice }] };
  }

  /** The mark is the day of the last turn. */
  async #monthly(
    installation: InstallationConfig,
    before: string | null,
    now: Date,
    made: MonthlyNotices,
  ): Promise<Decided | null> {
    const { id, timezone } = installation;
    const turn = monthlyTurn(timezone, now);
    if (before === null) return { after: turn, mails: [] };
    if (before >= turn) return null;
    const notice = made.has(id) ? (made.get(id) ?? null) : await monthlyNews(this.#app, installation, turn);
    made.set(id, notice);
    return { after: turn, mails: notice === null ? [] : [{ cause: 'monthly', notice }] };
  }

  async #send(mail: MailConfig, subscribed: readonly Subscribed[], signal: AbortSignal): Promise<void> {
    const { db, clock } = this.#app;
    const subscriptions = subscribed.map(({ installation, recipient, topic }): Subscription => {
      return { installation: installation.id, recipient: recipient.address, topic };
    });
    for (let sent = 0; sent < mailsPerLook && !signal.aborted; sent++) {
      const claimed = await claimMail(db, subscriptions, clock());
      if (claimed === null) return;
      if (!(await this.#sendOne(mail, claimed, subscribed, signal))) return;
    }
  }

  /** Returns false if the mail server accepts no mail now. */
  async #sendOne(
    { smtp, from }: MailConfig,
    claimed: OutboxMail,
    subscribed: readonly Subscribed[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { db, clock, log, databaseId } = this.#app;
    const of = subscribed.find(
      ({ installation, recipient }) =>
        installation.id === claimed.installation && recipient.address === claimed.recipient,
    );
    if (of === undefined) throw new Error(`mail ${claimed.id} has no subscription`);
    const letter = await letterOf(db, claimed, of, { from, databaseId, date: clock() });
    try {
      await sendLetter(smtp, letter, signal);
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      await noteNotSent(db, claimed.id, error.plain);
      const { code, message, todo } = error.plain;
      if (error.isOfMail || !this.#isFailing)
        log.error({ installation: claimed.installation, code, todo, attempt: claimed.attempts }, message);
      this.#isFailing ||= !error.isOfMail;
      return error.isOfMail;
    }
    await noteSent(db, claimed.id, clock());
    if (this.#isFailing) log.info('the mail server accepts mail again');
    this.#isFailing = false;
    log.info({ installation: claimed.installation, cause: claimed.cause }, 'mail was sent');
    return true;
  }
}

interface Decided {
  after: string;
  mails: NewMail[];
}

function isEventTopic(topic: Topic): topic is EventTopic {
  return topics[topic] === 'at_once';
}

function subscriptionsOf(installation: InstallationConfig, recipients: readonly Recipient[]): Subscribed[] {
  return recipients
    .filter(({ installations }) => installations === null || installations.includes(installation.id))
    .flatMap((recipient) =>
      (Object.keys(topics) as Topic[])
        .filter((topic) => recipient.send.includes(topics[topic]))
        .map((topic) => ({ installation, recipient, topic })),
    );
}

async function letterOf(
  db: Connection,
  { id, notices, omitted, cause, decided_at: decidedAt }: OutboxMail,
  { installation, recipient }: Subscribed,
  { from, databaseId, date }: { from: string; databaseId: string; date: Date },
): Promise<Letter> {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const names = recipient.names ? await namesOf(db, installation, notices) : null;
  const day = dateIn(installation.timezone, decidedAt);
  await loadLanguage(recipient.language);
  const { subject, text } = inLanguage(recipient.language, () =>
    composeMail(notices, { installation, recipient: recipient.address, day, omitted, names }),
  );
  return {
    ...{ from, to: recipient.address, subject, text, date },
    messageId: `<${databaseId}.${id}@${domain}>`,
    thread: `<${databaseId}.${installation.id}.${cause.replace('/', '.')}@${domain}>`,
  };
}

/** Names are read when the mail is sent, so that the outbox holds none. */
async function namesOf(
  db: Connection,
  { id, dialect }: InstallationConfig,
  notices: OutboxMail['notices'],
): Promise<Map<string, string>> {
  const refs = notices.flatMap((notice): DocumentRef[] => {
    const lines =
      notice.about === 'erp_refused'
        ? notice.lines
        : notice.about === 'daily'
          ? notice.sections.flatMap((section) => section.lines)
          : [];
    return lines.flatMap(({ ref }) => ref ?? []);
  });
  const found = await whoAndWhere(db, id, dialect, refs);
  return new Map([...found].map(([key, { customer }]) => [key, customer]));
}
