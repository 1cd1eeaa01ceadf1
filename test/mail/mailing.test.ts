// Mails that are decided and sent to a real mail server, on a simulated clock.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordAction } from '../../src/actions/record.ts';
import { applyMapping } from '../../src/bookkeeping/mapping-versions.ts';
import { type Config, type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import type { MailConfig, Recipient } from '../../src/config/mail.ts';
import { mailTrouble } from '../../src/mail/outbox.ts';
import { Mailing, type MailingPorts } from '../../src/windows/mailing.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { login, type Mailbox, startMailbox } from './mailbox.ts';

const { db, owner, truncate, openPool } = useDatabase();
const other = openPool({ max: 2 });
const signal = new AbortController().signal;
const id = 4711;
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
let box: Mailbox;
let config: Config;
let one: InstallationConfig;
let now: Date;
let errors: { code: string; line: string }[];

beforeAll(async () => {
  box = await startMailbox();
  const folder = folderOf({ 'vetledger.yaml': demoConfig([{ id, base_url: 'http://127.0.0.1:1', name: 'Haukka' }]) });
  config = await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 't' });
  [one] = config.installations as [InstallationConfig];
});
afterAll(() => box?.stop());

beforeEach(async () => {
  await truncate();
  [box.received, box.behaviour, errors] = [[], 'works', []];
  // 15:00 in Helsinki.
  now = new Date('2026-09-16T12:00:00Z');
});

const anna: Recipient = { address: 'anna@clinic.example', installations: null, send: ['at_once'], names: false };

interface Setting {
  recipients?: Recipient[];
  smtp?: Partial<MailConfig['smtp']>;
  pool?: typeof db;
  installations?: InstallationConfig[];
}

/** A daemon's mailing. */
function daemon({ recipients = [anna], smtp = {}, pool = db, installations = [one] }: Setting = {}): Mailing {
  const mail: MailConfig = {
    smtp: { host: 'localhost', port: box.port, tls: 'starttls', login, ...smtp },
    from: 'vetledger@clinic.example',
    recipients,
  };
  const failed = ({ code }: { code: string }, line: string) => errors.push({ code, line });
  return new Mailing({
    ...{ db: pool, databaseId: 'd1', clock: () => now, config: { ...config, installations, mail } },
    log: { debug: () => undefined, info: () => undefined, warn: failed, error: failed },
    practice: () => {
      throw new Error('mailing asks the source for nothing');
    },
  } as unknown as MailingPorts);
}

const verdict = (failing: string[]) =>
  query(
    db,
    `insert into reconcile_verdict (installation, ok, failing, checked_at) values (?, ?, ?, ?)
     on conflict (installation) do update set ok = excluded.ok, failing = excluded.failing, checked_at = excluded.checked_at`,
    [id, failing.length === 0, failing, now],
  );
const subjects = () => box.received.map(({ headers }) => headers.get('subject'));
const later = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

describe('a broken equation', () => {
  test('is mailed over TLS with a login, and once more when it holds again', async () => {
    const mailing = daemon();
    await verdict([]);
    await mailing.look(signal);
    expect(box.received).toEqual([]);
    await verdict(['E2', 'E5']);
    await mailing.look(signal);
    await mailing.look(signal);
    expect(box.received).toMatchObject([{ to: ['anna@clinic.example'], secure: true, user: 'books' }]);
    const [{ headers, text }] = box.received as [Mailbox['received'][number]];
    expect(Object.fromEntries(headers)).toMatchObject({
      from: 'vetledger <vetledger@clinic.example>',
      to: 'anna@clinic.example',
      subject: '[vetledger] 4711 (Haukka): the books are NOT in order (E2, E5)',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<d1\.\d+@clinic\.example>$/),
      references: '<d1.4711.equations@clinic.example>',
      'in-reply-to': '<d1.4711.equations@clinic.example>',
      'content-type': expect.stringContaining('text/plain'),
      date: 'Wed, 16 Sep 2026 12:00:00 +0000',
    });
    expect(text).toContain('E2 does NOT hold');
    later(2 * hourMs);
    await verdict(['E5']);
    await mailing.look(signal);
    expect(box.received).toHaveLength(1);
    await verdict([]);
    await mailing.look(signal);
    expect(subjects()[1]).toBe('[vetledger] 4711 (Haukka): the books are in order again');
    expect(box.received[1]?.headers.get('references')).toBe('<d1.4711.equations@clinic.example>');
  });
});
