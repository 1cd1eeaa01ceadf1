import type { InstallationConfig } from '../config/load-config.ts';
import { date, instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import { formatMoney, Money } from '../domain/money.ts';
import { unitKinds } from '../erp/outbox/unit.ts';
import { closeKinds } from '../ledger/journal/chain.ts';
import { linesAtMost, type MailLine, noticesAtMost, type Topic, type topics } from '../mail/notices.ts';
import { type NewMail, staleAfterDays } from '../mail/outbox.ts';
import { chainNames } from '../reconcile/verdict.ts';
import { documentKinds, type InstallationId } from '../terms.ts';
import { deliveryTexts } from '../texts/findings/erp-check-results.ts';
import { mailTexts } from '../texts/mail.ts';
import { deliveryStatuses } from './delivery-status.ts';
import { numbered } from './mail-lines.ts';
import { mappingVersions } from './mapping-history.ts';

/** The topics of mails that are sent at once. */
export type EventTopic = { [Name in Topic]: (typeof topics)[Name] extends 'at_once' ? Name : never }[Topic];

/** The present state of each topic as the text of its mark. */
export type EventMarks = Record<EventTopic, string>;

type Installation = Pick<InstallationConfig, 'id' | 'erp' | 'dialect' | 'decimals'>;

/** The state of an installation without anything to report. */
const nothingYet: EventMarks = { chain: '', equations: '', erp_refused: '', books: '0', mapping: '0' };

/**
 * The present marks of these installations. The number of statements does not depend on their number. The marks are: the failed
 * checks; the codes for which the ERP refuses entries; the place of the last close; the number of the mapping version.
 */
export async function eventMarks(
  db: Connection,
  installations: readonly Installation[],
): Promise<Map<InstallationId, EventMarks>> {
  const ids = installations.map(({ id }) => id);
  const found = await rows(
    db,
    { installation: integer, topic: oneOf(['checks', 'refused', 'books', 'mapping']), mark: text },
    `select installation, 'checks' as topic, array_to_string(failing, ',') as mark
     from reconcile_verdict where installation = any(?)
     union all
     select installation, 'refused', string_agg(distinct problem_code, ',' order by problem_code)
     from erp_unit where installation = any(?) and state = 'refused' and problem_code is not null group by installation
     union all
     select installation, 'books', max(seq)::text from ledger_close where installation = any(?) group by installation
     union all
     select installation, 'mapping', max(number)::text from mapping_version where installation = any(?) group by installation`,
    [ids, ids, ids, ids],
  );
  const of = new Map(found.map(({ installation, topic, mark }) => [`${installation}/${topic}`, mark]));
  const deliveries = await deliveryStatuses(db, installations);
  return new Map(
    ids.map((id) => {
      const failing = namesIn(of.get(`${id}/checks`) ?? '');
      const isChain = (name: string) => chainNames.some((each) => each === name);
      const error = deliveries.get(id)?.last_error?.code;
      const company = error !== undefined && Object.hasOwn(mailTexts.refused.companies, error) ? [error] : [];
      return [
        id,
        {
          chain: failing.filter(isChain).join(','),
          equations: failing.filter((name) => !isChain(name)).join(','),
          erp_refused: [...namesIn(of.get(`${id}/refused`) ?? ''), ...company].join(','),
          books: of.get(`${id}/books`) ?? nothingYet.books,
          mapping: of.get(`${id}/mapping`) ?? nothingYet.mapping,
        },
      ];
    }),
  );
}

const namesIn = (mark: string) => (mark === '' ? [] : mark.split(','));

/**
 * The mails about the events of a topic between two marks. `before` is null for a new recipient, who gets the open problems, but not
 * the closes and mapping versions of the past.
 */
export async function eventMails(
  db: Connection,
  installation: Installation,
  topic: EventTopic,
  { before, after }: { before: string | null; after: string },
  now: Date,
): Promise<NewMail[]> {
  const { id } = installation;
  switch (topic) {
    case 'chain':
    case 'equations': {
      const [known, failing] = [namesIn(before ?? ''), namesIn(after)];
      const isWorse = failing.some((name) => !known.includes(name));
      const isOver = failing.length === 0 && known.length > 0;
      return isWorse || isOver ? [{ cause: topic, notice: await checksNotice(db, id, failing, now) }] : [];
    }
    case 'erp_refused': {
      const added = namesIn(after).filter((code) => !namesIn(before ?? '').includes(code));
      const mails: NewMail[] = [];
      for (const code of added)
        mails.push({ cause: `${topic}/${code}`, notice: await refusedNotice(db, installation, code, now) });
      return mails;
    }
    case 'books':
      return before === null ? [] : closeMails(db, id, Number(before), now);
    case 'mapping':
      return before === null ? [] : mappingMails(db, id, Number(before), now);
  }
}

async function checksNotice(
  db: Connection,
  installation: InstallationId,
  failing: string[],
  now: Date,
): Promise<NewMail['notice']> {
  const verdict = await maybeRow(
    db,
    { checked_at: instant },
    'select checked_at from reconcile_verdict where installation = ?',
    [installation],
  );
  return { about: 'checks', failing, at: (verdict?.checked_at ?? now).toISOString() };
}

async function refusedNotice(
  db: Connection,
  { id, decimals, dialect }: Installation,
  code: string,
  now: Date,
): Promise<NewMail['notice']> {
  const found = await rows(
    db,
    { unit: text, kind: oneOf(unitKinds), date, amount: nullable(numeric), n: integer },
    `select unit_id as unit, kind, unit_date as date, count(*) over () as n,
       case kind when 'entry' then (select sum(amount) from entry_line where entry_id = unit_id and side = 'debit')
         else (select sum(amount) from summary_line where summary_id = unit_id and side = 'debit') end as amount
     from erp_unit where installation = ? and state = 'refused' and problem_code = ?
     order by unit_date, seq limit ${linesAtMost}`,
    [id, code],
  );
  const lines = found.map(({ unit, kind, date: day, amount }): MailLine => {
    const [, documentKind, documentId] = unit.split('/');
    const known = documentKinds.find((each) => each === documentKind);
    return {
      ref: kind === 'entry' && known !== undefined ? { kind: known, id: Number(documentId) } : null,
      document: kind === 'entry' ? `${documentKind} ${documentId}` : deliveryTexts.dailySummary({ date: day }),
      ...{ number: null, amount: amount === null ? null : formatMoney(new Money(amount), decimals), date: day, code },
    };
  });
  const count = found[0]?.n ?? 0;
  return {
    about: 'erp_refused',
    code,
    count,
    lines: await numbered(db, { id, dialect }, lines),
    at: now.toISOString(),
  };
}

async function closeMails(db: Connection, installation: InstallationId, after: number, now: Date): Promise<NewMail[]> {
  const found = await rows(
    db,
    { kind: oneOf(closeKinds), through: date, at: instant, by: nullable(text), second: nullable(text) },
    `select c.kind, c.through, c.closed_at as at, a.acted_by as by, a.input ->> 'second' as second
     from ledger_close c left join action_done a on a.id = c.action_id
     where c.installation = ? and c.seq > ? and c.closed_at > ?::timestamptz - make_interval(days => ?)
     order by c.seq desc limit ${noticesAtMost}`,
    [installation, after, now, staleAfterDays],
  );
  return found.reverse().map(({ kind, at, ...close }) => ({
    cause: kind,
    notice: { about: kind, ...close, at: at.toISOString() },
  }));
}

async function mappingMails(
  db: Connection,
  installation: InstallationId,
  after: number,
  now: Date,
): Promise<NewMail[]> {
  const versions = await mappingVersions(db, installation);
  const staleBefore = new Date(now.getTime() - staleAfterDays * 86_400_000);
  return versions
    .filter(({ number, since }) => number > Math.max(after, 1) && since > staleBefore)
    .slice(-noticesAtMost)
    .map(({ number, version, approved_by, applied_by: by, since }) => ({
      cause: 'mapping',
      notice: { about: 'mapping', number, version, approved_by, by, at: since.toISOString() },
    }));
}
