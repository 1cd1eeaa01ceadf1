// Mails that are decided and sent to a real mail server, on a simulated clock.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyMapping } from '../../src/bookkeeping/mapping-versions.ts';
import { mailLines } from '../../src/cli/commands/status-text.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import type { MailConfig, Recipient } from '../../src/config/mail.ts';
import { PracticeError } from '../../src/domain/practice-error.ts';
import { mailTrouble, pruneMails } from '../../src/mail/outbox.ts';
import { Mailing, type MailingPorts } from '../../src/windows/mailing.ts';
import { folderOf } from '../cli/support.ts';
import { closePeriods, reopenPeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { sandboxRecords } from '../support/sandbox-records.ts';
import { query } from '../support/sql.ts';
import { login, type Mailbox, startMailbox } from './mailbox.ts';

const { db, owner, truncate, openPool } = useDatabase();
const other = openPool({ max: 2 });
const signal = new AbortController().signal;
const id = 4711;
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
let box: Mailbox;
let config: Config;
let now: Date;
let errors: { code: string; line: string }[];

beforeAll(async () => {
  box = await startMailbox();
  const folder = folderOf({ 'vetledger.yaml': demoConfig([{ id, base_url: 'http://127.0.0.1:1', name: 'Haukka' }]) });
  config = await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 't' });
});
afterAll(() => box?.stop());

beforeEach(async () => {
  await truncate();
  [box.received, box.behaviour, errors] = [[], 'works', []];
  // The test begins at 15:00 in Helsinki.
  now = new Date('2026-09-16T12:00:00Z');
});

const anna: Recipient = {
  ...{ address: 'anna@clinic.example', installations: null, send: ['at_once'], names: false, language: 'en' },
};

interface Setting {
  recipients?: Recipient[];
  smtp?: Partial<MailConfig['smtp']>;
  pool?: typeof db;
  practice?: () => unknown;
}

const noSource = () => {
  throw new Error('nothing is asked of the source');
};

/** A daemon's mailing. */
function daemon({ recipients = [anna], smtp = {}, pool = db, practice = noSource }: Setting = {}): Mailing {
  const mail: MailConfig = {
    smtp: { host: 'localhost', port: box.port, tls: 'starttls', login, ...smtp },
    from: 'vetledger@clinic.example',
    recipients,
  };
  const failed = ({ code }: { code: string }, line: string) => errors.push({ code, line });
  return new Mailing({
    ...{ db: pool, databaseId: 'd1', clock: () => now, config: { ...config, mail }, practice },
    log: { debug: () => undefined, info: () => undefined, warn: failed, error: failed },
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

/** The mails, each with its subject and, if there are several recipients, who got it. */
const got = () => box.received.map(({ to, headers }) => `${to} ${headers.get('subject')}`);
const subject = (fact: string) => `[vetledger] 4711 (Haukka): ${fact}`;

const details = { actedBy: 'M. Virtanen', reason: 'for Aino Hietala', second: null, checklist: null };
const close = (through: string) => closePeriods(db, [{ id, today: '2026-09-16', details }], through);
const reopen = (from: string) => reopenPeriods(db, [id], from, details);

const refused = (n: number, code: string) =>
  query(
    db,
    `insert into erp_unit (installation, unit_id, kind, seq, unit_date, erp_key, company, state, problem_code, problem_message, problem_since)
     values (?, ?, 'entry', ?, '2026-09-10', ?, 'c', 'refused', ?, 'Aino Hietala is blocked', ?)`,
    [id, `${id}/payment/${n}/1`, n, `key${n}`, code, now],
  );

const content = (roles: string) =>
  JSON.stringify({ roles: { receivable: roles }, revenue: 'same', vat: 'same', version: roles });
const applied = (roles: string) =>
  applyMapping(
    db,
    { id, mappingFile: { content: content(roles), hash: '' } as never },
    { actedBy: 'M. Virtanen', reason: 'r' },
  );

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

describe('at once', () => {
  test('a new recipient hears what is wrong now, then each new event, once', async () => {
    await verdict(['E2']);
    await refused(1, 'erp_refused');
    await close('2026-07-31');
    await applied('1700');
    const mailing = daemon();
    await mailing.look(signal);
    expect(subjects()).toEqual([
      subject('the books are NOT in order (E2)'),
      subject('the ERP refuses 1 entry (erp_refused)'),
    ]);
    later(2 * hourMs);
    await mailing.look(signal);
    box.received = [];
    await verdict(['E2', 'E7', 'chain', 'seals']);
    await refused(2, 'erp_account_unknown');
    await close('2026-08-31');
    await reopen('2026-07-01');
    await applied('1701');
    await mailing.look(signal);
    await daemon().look(signal);
    later(2 * hourMs);
    await mailing.look(signal);
    expect(subjects()).toEqual(
      [
        'the books are NOT in order (chain, seals)',
        'the books are NOT in order (E2, E7)',
        'the ERP refuses 1 entry (erp_account_unknown)',
        'the books were closed through 2026-08-31',
        'the books were reopened from 2026-07-01',
        'the mapping changed (version 2)',
      ].map(subject),
    );
    // Reasons and messages may name people.
    for (const { raw } of box.received) expect(raw).not.toMatch(/Hietala/);
  });

  test('a further refusal for a known reason is not mailed, but its first return is', async () => {
    const mailing = daemon();
    await refused(1, 'erp_refused');
    await mailing.look(signal);
    await refused(2, 'erp_refused');
    later(2 * hourMs);
    await mailing.look(signal);
    expect(box.received).toHaveLength(1);
    await query(db, `update erp_unit set state = 'pending', problem_code = null`);
    await mailing.look(signal);
    await query(db, `update erp_unit set state = 'refused', problem_code = 'erp_refused'`);
    await mailing.look(signal);
    expect(subjects()[1]).toBe(subject('the ERP refuses 2 entries (erp_refused)'));
  });

  test('a window that failed and was covered is in no mail', async () => {
    const mailing = daemon({ recipients: [{ ...anna, send: ['at_once', 'daily', 'monthly'] }] });
    await loaded();
    await mailing.look(signal);
    await query(
      db,
      `insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id, opened_at, error)
       values (?, 'window', 'schedule', null, 'failed', 'w2', gen_random_uuid()::text, ?, '{"code":"x","message":"x","todo":"x"}')`,
      [id, now],
    );
    await mailing.look(signal);
    await loaded();
    for (let day = 0; day < 3; day++) {
      later(dayMs);
      await mailing.look(signal);
    }
    expect(box.received).toEqual([]);
  });
});

describe('one cause', () => {
  test('is mailed once an hour at most, with all that happened meanwhile; other causes and recipients do not wait', async () => {
    const mailing = daemon({ recipients: [anna, { ...anna, address: 'otso@clinic.example' }] });
    await mailing.look(signal);
    await close('2026-05-31');
    await mailing.look(signal);
    expect(got()).toEqual([
      `anna@clinic.example ${subject('the books were closed through 2026-05-31')}`,
      `otso@clinic.example ${subject('the books were closed through 2026-05-31')}`,
    ]);
    box.received = [];
    for (const through of ['2026-06-30', '2026-07-31', '2026-08-31']) {
      later(10 * minuteMs);
      await close(through);
      await verdict(['E2']);
      await mailing.look(signal);
    }
    expect(got()).toEqual([
      `anna@clinic.example ${subject('the books are NOT in order (E2)')}`,
      `otso@clinic.example ${subject('the books are NOT in order (E2)')}`,
    ]);
    box.received = [];
    later(31 * minuteMs);
    await mailing.look(signal);
    const fact = 'the books were closed through 2026-08-31 (and 2 earlier events)';
    expect(got()).toEqual([`anna@clinic.example ${subject(fact)}`, `otso@clinic.example ${subject(fact)}`]);
    expect(box.received[0]?.text).toMatch(/2026-06-30.*2026-07-31.*2026-08-31/s);
  });

  test('of many events, the newest are named and the others counted', async () => {
    const mailing = daemon();
    await mailing.look(signal);
    await verdict(['E1']);
    await mailing.look(signal);
    for (let n = 0; n < 26; n++) {
      await verdict(n % 2 === 0 ? [] : ['E1']);
      await mailing.look(signal);
    }
    later(hourMs + 1);
    await mailing.look(signal);
    expect(subjects()[1]).toBe(subject('the books are NOT in order (E1) (and 25 earlier events)'));
    expect(box.received[1]?.text).toContain('And 6 earlier events of this kind within the hour.');
    expect(box.received).toHaveLength(2);
  });

  test('is mailed once by two daemons that look at the same time', async () => {
    const daemons = [daemon(), daemon({ pool: other })];
    await verdict(['E2']);
    await Promise.all(daemons.map((each) => each.look(signal)));
    await Promise.all(daemons.map((each) => each.look(signal)));
    expect(box.received).toHaveLength(1);
  });
});

describe('a mail server that does not accept mail', () => {
  const broken = 'the books are NOT in order (E2)';

  test('is down: one attempt a look, with growing pauses, and everything arrives afterwards', async () => {
    const recipients = [anna, { ...anna, address: 'otso@clinic.example' }];
    const failing = daemon({ smtp: { port: 1 }, recipients });
    const attempts = async () =>
      (await query<{ n: number }>(db, 'select attempts as n from mail order by id')).map(({ n }) => n);
    await verdict(['E2']);
    const since = now;
    await failing.look(signal);
    expect(await attempts()).toEqual([1, 0]);
    // The next attempts are after 2, 4, 8, 16, 32 and 60 minutes.
    for (const minute of [0, 1, 2, 3, 5, 6, 7, 13, 14, 15, 29, 30, 31, 61, 62, 63, 119]) {
      now = new Date(since.getTime() + minute * minuteMs);
      await failing.look(signal);
      await failing.look(signal);
    }
    expect(await attempts()).toEqual([6, 6]);
    // The log has the outage once.
    expect(errors).toMatchObject([{ code: 'smtp_unreachable' }]);
    expect(await mailTrouble(db, now)).toMatchObject({
      ...{ waiting: 2, given_up: 0, since, error: { code: 'smtp_unreachable' } },
    });
    expect(mailLines(await mailTrouble(db, now))[0]).toMatch(
      /^2 mails cannot be sent, the oldest of 2026-09-16 12:00:00 UTC: The mail server localhost:1 cannot be reached/,
    );
    later(hourMs);
    await daemon({ recipients }).look(signal);
    expect(subjects()).toEqual([subject(broken), subject(broken)]);
    expect(await mailTrouble(db, now)).toBeNull();
  });

  test('refuses one recipient: the others get their mail', async () => {
    const recipients = [anna, { ...anna, address: 'otso@clinic.example' }];
    box.behaviour = 'refuses';
    await verdict(['E2']);
    await daemon({ recipients }).look(signal);
    expect(errors.map(({ code }) => code)).toEqual(['smtp_refused', 'smtp_refused']);
  });

  test('drops the connection after the mail: it comes again with the same id', async () => {
    box.behaviour = 'drops';
    const mailing = daemon();
    await verdict(['E2']);
    await mailing.look(signal);
    expect(errors).toMatchObject([{ code: 'smtp_unreachable' }]);
    box.behaviour = 'works';
    later(3 * minuteMs);
    await daemon().look(signal);
    const ids = box.received.map(({ headers }) => headers.get('message-id'));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    later(dayMs);
    await mailing.look(signal);
    expect(box.received).toHaveLength(2);
  });

  test('for a week: the mail is given up, and the state says so', async () => {
    const failing = daemon({ smtp: { port: 1 } });
    await verdict(['E2']);
    await failing.look(signal);
    later(7 * dayMs);
    await failing.look(signal);
    expect(await query(db, 'select attempts from mail')).toEqual([{ attempts: 1 }]);
    await daemon().look(signal);
    expect(box.received).toEqual([]);
    expect(await mailTrouble(db, now)).toMatchObject({ waiting: 0, given_up: 1 });
    expect(mailLines(await mailTrouble(db, now))[0]).toMatch(/^1 mail was given up, the oldest of/);
  });
});

describe('what was decided', () => {
  test('is sent after a crash, once', async () => {
    await verdict(['E2']);
    // The process ends after it has decided.
    const crashed = daemon({ smtp: { port: 1 } });
    await crashed.look(signal);
    await query(db, 'update mail set attempts = 0, not_before = decided_at, error = null');
    await daemon().look(signal);
    await daemon().look(signal);
    expect(box.received).toHaveLength(1);
  });

  test('is not sent to a recipient who is no longer in the configuration', async () => {
    await verdict(['E2']);
    await daemon({ smtp: { port: 1 } }).look(signal);
    later(hourMs);
    await daemon({ recipients: [{ ...anna, address: 'otso@clinic.example' }] }).look(signal);
    await daemon({ recipients: [{ ...anna, installations: [1] }] }).look(signal);
    await daemon({ recipients: [{ ...anna, send: ['daily'] }] }).look(signal);
    expect(box.received.flatMap(({ to }) => to)).toEqual(['otso@clinic.example']);
  });

  test('is removed after a month', async () => {
    await verdict(['E2']);
    await daemon().look(signal);
    const decided = (days: number) =>
      query(db, 'update mail set decided_at = clock_timestamp() - make_interval(days => ?)', [days]);
    await decided(29);
    expect(await pruneMails(db, signal)).toBe(0);
    await decided(31);
    expect(await pruneMails(db, signal)).toBe(1);
  });
});

/** Closes a window, so that the first load is over. */
const loaded = () =>
  query(
    db,
    `insert into sync_window (installation, kind, trigger, to_time, outcome, workflow_id, run_id, opened_at)
     values (?, 'window', 'schedule', ?, 'closed', 'w', gen_random_uuid()::text, ?)`,
    [id, now, now],
  );

const document = (kind: string, n: number, more: { code: string; amount?: string | null; state?: string }) => {
  const { code, amount = '10.00', state = 'held' } = more;
  return query(
    db,
    `insert into document (installation, kind, id, state, problem_code, problem_since, document_date, outside_amount)
     values (?, ?, ?, ?, ?, ?, '2026-09-10', ?)`,
    [id, kind, n, state, code, now, amount],
  );
};
const remark = (kind: string, n: number, code: string, amount: string) =>
  query(
    db,
    'insert into document_report (installation, kind, id, code, message, amount, since) values (?, ?, ?, ?, ?, ?, ?)',
    [...[id, kind, n, code, 'Aino Hietala paid twice', amount, now]],
  );

describe('daily', () => {
  const daily: Recipient = { ...anna, send: ['daily'] };
  /** Calls mailing at 6:59, 7:00, 7:01 and 15:00 of each day until an instant. */
  const until = async (end: string, mailing = daemon({ recipients: [daily] })) => {
    for (; now < new Date(end); later(minuteMs)) {
      const time = now.toISOString().slice(11, 16);
      if (['03:59', '04:00', '04:01', '12:00'].includes(time)) await mailing.look(signal);
    }
  };

  test('at 7:00 of the clinic, only if there is something new, with the numbers and amounts of what is new', async () => {
    await loaded();
    await document('invoice', 1, { code: 'role_unmapped', amount: '100.00' });
    await until('2026-09-17T03:59:00Z');
    expect(box.received).toEqual([]);
    await until('2026-09-18T03:59:00Z');
    expect(box.received).toHaveLength(1);
    expect(box.received[0]?.headers.get('date')).toBe('Thu, 17 Sep 2026 04:00:00 +0000');
    // First nothing is new, then there is one new event of each kind.
    await until('2026-09-18T12:00:00Z');
    expect(box.received).toHaveLength(1);
    await document('invoice', 2, { code: 'role_unmapped', amount: '7.50' });
    await document('payment', 3, { code: 'invoice_unknown', amount: null });
    await document('invoice', 4, { code: 'change_held', amount: '-2.00', state: 'posted' });
    await document('invoice', 5, { code: 'left_as_posted', state: 'posted' });
    await document('invoice', 6, { code: 'missing_in_source', state: 'posted', amount: null });
    await remark('payment', 7, 'prepayment_unmatched', '50.00');
    await remark('invoice', 8, 'overpaid', '5.00');
    await remark('payment', 9, 'paid_on_voided', '20.00');
    await remark('invoice', 10, 'vat_rate_disagrees', '1.00');
    await until('2026-09-20T12:00:00Z');
    expect(subjects().slice(1)).toEqual([
      subject(
        'new since the last mail: 2 held, 1 late, 1 missing in the source, 1 unmatched prepayments, 1 overpaid, 1 paid on voided',
      ),
    ]);
    const { text, raw } = box.received[1] as Mailbox['received'][number];
    expect(text).toContain(
      'Held documents, which are not in the books: 2 new, 3 in all\nNew: 1 invoice, 7.50 EUR; 1 payment, amount unknown.',
    );
    expect(text).toContain('  invoice 4  -2.00 EUR  2026-09-10  9 days old');
    expect(text).toContain('  payment 9  20.00 EUR');
    expect(text).not.toMatch(/invoice 1 |invoice 5|invoice 10/);
    expect(raw).not.toContain('Hietala');
  });

  test('after days without a daemon once, for all of them; a document that is no longer held is not in it', async () => {
    await loaded();
    await until('2026-09-16T13:00:00Z');
    await document('invoice', 1, { code: 'role_unmapped' });
    later(dayMs);
    await document('invoice', 2, { code: 'role_unmapped' });
    await query(db, `update document set state = 'posted', problem_code = null, problem_since = null where id = 1`);
    later(3 * dayMs);
    for (const _ of [1, 2]) await daemon({ recipients: [daily] }).look(signal);
    expect(subjects()).toEqual([subject('new since the last mail: 1 held')]);
  });

  test('not during the first load, whose problems come the day after it', async () => {
    await document('invoice', 1, { code: 'role_unmapped' });
    await until('2026-09-18T12:00:00Z');
    await loaded();
    await until('2026-09-19T03:59:00Z');
    expect(box.received).toEqual([]);
    await until('2026-09-19T05:00:00Z');
    expect(box.received).toHaveLength(1);
  });

  test('a problem that is committed after the mail was made is in the next one', async () => {
    await loaded();
    await until('2026-09-17T03:59:00Z');
    const late = await other.transaction();
    await query(
      late,
      `insert into document (installation, kind, id, state, problem_code, problem_since) values (?, 'invoice', 1, 'held', 'x', ?)`,
      [id, now],
    );
    await until('2026-09-17T04:02:00Z');
    await late.commit();
    await until('2026-09-19T00:00:00Z');
    expect(subjects()).toEqual([subject('new since the last mail: 1 held')]);
  });

  test('the printed number always; the name of the client only if the recipient may see it; in his language', async () => {
    await loaded();
    const raw = JSON.parse(sandboxRecords().invoice[0] as string);
    const name = 'Aino "R\u001b[2J" Hietala\r\nBcc: all@evil.example';
    const invoice = { ...raw, id: 1, payer_name: name, invoice_prefix: 'S', invoice_number: '1001\r\nX: y' };
    await query(
      db,
      `insert into mirror_record (installation, kind, id, version, source_time, first_seen_at, content_hash, raw)
       values (?, 'invoice', 1, 1, ?, ?, '', ?::json)`,
      [id, now, now, JSON.stringify(invoice)],
    );
    await document('invoice', 1, { code: 'role_unmapped' });
    const recipients: Recipient[] = [daily, { ...daily, address: 'otso@clinic.example', names: true, language: 'fi' }];
    await until('2026-09-17T05:00:00Z', daemon({ recipients }));
    const [without, withNames] = box.received as [Mailbox['received'][number], Mailbox['received'][number]];
    expect(without.text).toContain('  invoice 1 (S-1001\\r\\nX: y)  10.00 EUR');
    expect(without.raw).not.toContain('Aino');
    expect(withNames.to).toEqual(['otso@clinic.example']);
    expect([without, withNames].map(({ text }) => text.includes('The mapping has no account for a role'))).toEqual([
      true,
      false,
    ]);
    expect(withNames.text).toContain('Aino "R\\u001b[2J" Hietala\\r\\nBcc: all@evil.example\n');
    for (const { headers } of box.received) expect([headers.has('bcc'), headers.has('x')]).toEqual([false, false]);
    // The outbox holds no name.
    expect(JSON.stringify(await query(db, 'select notices from mail'))).not.toContain('Aino');
  });
});

describe('monthly', () => {
  const monthly: Recipient = { ...anna, send: ['monthly'] };
  const offline = () => ({
    forWindow: () => ({
      list: async () => {
        throw new PracticeError('unreachable', 'offline');
      },
    }),
  });

  /** Calls mailing at 7:00 of each day until the end of October. */
  async function untilNovember(): Promise<void> {
    const mailing = daemon({ recipients: [monthly], practice: offline });
    await mailing.look(signal);
    for (now = new Date('2026-09-17T04:00:00Z'); now < new Date('2026-11-01'); later(dayMs)) await mailing.look(signal);
  }

  beforeEach(async () => {
    now = new Date('2026-09-16T12:00:00Z');
    await loaded();
    await owner.transaction(async (trx) => {
      await query(trx, 'set local session_replication_role = replica');
      await query(
        trx,
        `insert into entry (id, installation, kind, document_id, n, seq, entry_date, document_date, reason, description,
           idempotency_key, input_hash, previous_hash, hash, vat_period, is_late)
         values ('x', ?, 'invoice', 1, 1, 1, '2026-09-10', '2026-09-10', 'posted', '', 'x', '', '', '', '2026-09', false)`,
        [id],
      );
    });
  });

  test('on the first and the tenth, with what the close lacks, while the month is open', async () => {
    await document('invoice', 1, { code: 'role_unmapped' });
    await verdict(['E2']);
    await untilNovember();
    expect(box.received.map(({ headers }) => headers.get('date')?.slice(5, 22))).toEqual([
      '01 Oct 2026 04:00',
      '10 Oct 2026 04:00',
    ]);
    const fact = '2026-09 is not closed: 3 items of its checklist need attention';
    expect(subjects()).toEqual([subject(fact), subject(fact)]);
    const { text } = box.received[0] as Mailbox['received'][number];
    expect(text).toContain('- No window has read the source after the end of the month');
    expect(text).toContain('- 1 held document: `vetledger problems`\n    role_unmapped 1\n');
    expect(text).toContain('- 1 check did not hold at the last reconciliation: `vetledger reconcile`\n    E2\n');
    expect(text).toContain('`vetledger ledger close --through 2026-09-30 --dry-run');
  });

  test('not for a month that is closed', async () => {
    await close('2026-09-30');
    await untilNovember();
    expect(box.received).toEqual([]);
  });
});
