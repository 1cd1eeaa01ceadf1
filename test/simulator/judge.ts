// The conditions at the end of a life. The oracle (test/simulation/oracle-rules.ts), which shares no code with posting,
// judges the books. The clinic judges the mirror, and our books judge the ERP.

import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { Db } from '../../src/db/pool.ts';
import { Money } from '../../src/domain/money.ts';
import { verifyChain } from '../../src/ledger/verify.ts';
import { writeBackFindings } from '../../src/reconcile/e10-write-backs.ts';
import type { DocumentKind } from '../../src/terms.ts';
import type { HeldEntry } from '../erp/fake/server.ts';
import { demoMapping } from '../support/demo-config.ts';
import { wrongBooks } from '../support/expected-books.ts';
import { query } from '../support/sql.ts';
import type { Hostility } from './hostility.ts';
import { wrongMirror } from './judge-mirror.ts';
import type { SimulatedPractice } from './practice.ts';

export interface Judged {
  db: Db;
  installation: InstallationConfig;
  practice: SimulatedPractice;
  hostility: Hostility;
  isHostile: boolean;
  /** Deleted documents that the accountant confirmed as gone. */
  confirmed: ReadonlySet<string>;
  /** The last closed day of the books; null if they are open. */
  closedThrough: string | null;
  /** The ERP's entries; null without an ERP. */
  held: HeldEntry[] | null;
}

export async function judge(life: Judged): Promise<string[]> {
  const { db, installation, held } = life;
  const { id } = installation;
  const wrong = [
    ...(await wrongDocuments(life)),
    ...(await wrongMirror(life)),
    ...(await wrongNotes(life)),
    ...(held === null ? [] : await wrongInErp(db, id, held)),
    ...(await leftBehind(db, id)),
  ];
  const broken = await verifyChain(db, id);
  if (broken !== null) wrong.push(`ledger verify: ${JSON.stringify(broken)}`);
  return wrong;
}

/** The books must equal the oracle's. Each affected document must be held and reported, and no other one. */
async function wrongDocuments(life: Judged): Promise<string[]> {
  const { db, installation, practice, hostility, confirmed, closedThrough } = life;
  const { id, timezone, decimals, startDate } = installation;
  hostility.settle();
  const problems = await query<{ document: string; code: string; message: string }>(
    db,
    `select kind || '/' || id as document, problem_code as code, problem_message as message from document
     where installation = ? and problem_code is not null`,
    [id],
  );
  const named = new Map(problems.map(({ document, ...problem }) => [document, problem]));
  const isMissing = (code: string) => ['missing_in_source', 'source_shrank'].includes(code);
  const { culprits, unusable } = hostility;
  const mayBeHeld = new Set([...hostility.mayBeHeld, ...inClosedPeriod(practice, closedThrough)]);
  const setting = { installation: id, timezone, decimals, startDate, mapping: demoMapping };
  const found = await wrongBooks(db, practice.clinic, { ...setting, culprits, mayBeHeld });
  // No document can be made of an unusable record: it has no state, or it is gone if it was never posted.
  const wrong = found
    .filter((one) => !(/ is (undefined|gone), /.test(one) && unusable.has(one.split(' ')[0] ?? '')))
    .map((one) => `the books: ${one}`);
  const reversed = await query<{ entry: string; document: string }>(
    db,
    `select id as entry, kind || '/' || document_id as document from entry where installation = ? and reason = 'gone'`,
    [id],
  );
  for (const { entry, document } of reversed)
    if (!confirmed.has(document)) wrong.push(`${entry} reverses what the source did not show`);
  for (const culprit of culprits) {
    const problem = named.get(culprit);
    if (problem ? !/\d/.test(problem.message) : !unusable.has(culprit))
      wrong.push(`${culprit} is a culprit, and no problem names it: ${problem?.message}`);
  }
  for (const [document, { code }] of named)
    if (isMissing(code) && !unusable.has(document) && !hostility.mayBeHeld.has(document))
      wrong.push(`${document} is named as missing, and the source shows it`);
  wrong.push(...(await wrongAside(db, id, hostility, named)));
  return wrong.map((one) => one + reasonOf(one, named));
}

function reasonOf(text: string, named: ReadonlyMap<string, { code: string; message: string }>): string {
  const problem = named.get(/\w+\/\d+/.exec(text)?.[0] ?? '');
  return problem ? ` [${problem.code}: ${problem.message.slice(0, 200)}]` : '';
}

/** Every record without a usable id must be put aside. */
async function wrongAside(
  db: Db,
  installation: number,
  { culprits, unusable }: Hostility,
  named: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const aside = await query<{ kind: string; n: number }>(
    db,
    `select kind, count(*)::int as n from put_aside where installation = ? and record like '-%' group by kind`,
    [installation],
  );
  return [...Map.groupBy(unusable, (document) => document.split('/')[0])].flatMap(([kind, documents]) => {
    const unnamed = documents.filter((document) => culprits.has(document) && !named.has(document)).length;
    const put = aside.find((one) => one.kind === kind)?.n ?? 0;
    return put < unnamed ? [`${unnamed} ${kind}s have no usable id, and ${put} are put aside`] : [];
  });
}

/** A document in a closed period is held, or keeps its entry. */
function inClosedPeriod({ clinic }: SimulatedPractice, through: string | null): string[] {
  if (through === null) return [];
  const dated: [DocumentKind, { id: number }[]][] = [
    ['invoice', clinic.invoices.all().filter(({ invoice_date }) => invoice_date <= through)],
    ['payment', clinic.invoicePayments.all().filter(({ date_added }) => clinic.zone.date(date_added) <= through)],
    ['prepayment', clinic.prepayments.all().filter(({ created }) => clinic.zone.date(created) <= through)],
  ];
  return dated.flatMap(([kind, records]) => records.map(({ id }) => `${kind}/${id}`));
}

/**
 * The record of a posted prepayment must contain its entry id, or the ERP's number. In a hostile source, a record without it must
 * be reported.
 */
async function wrongNotes(judged: Judged): Promise<string[]> {
  const { db, installation, practice, hostility, isHostile, held } = judged;
  const prepayments = practice.clinic.prepayments.all();
  if (!isHostile) return wrongWriteBacks(db, installation.id, held, prepayments);
  const named = await problematic(judged, true);
  const failed = await query<{ id: number }>(
    db,
    `select document_id::int as id from write_back where installation = ? and state = 'failed'`,
    [installation.id],
  );
  const isFailed = new Set(failed.map(({ id }) => id));
  const unread = await query<{ id: number }>(
    db,
    `select document_id::int as id from write_back where installation = ? and state = 'done' and read_back is null`,
    [installation.id],
  );
  const wrong = unread
    .filter(({ id }) => !hostility.unusable.has(`prepayment/${id}`))
    .map(({ id }) => `the source accepted the id of prepayment ${id}, and no window has read it back`);
  const listed = await problematic(judged, false);
  if ([...named].join() !== [...listed].join()) wrong.push(`E10 finds ${[...named]}, and problems list ${[...listed]}`);
  const entries = await entriesOfPrepayments(db, installation.id, held);
  for (const { id, external_info: info } of prepayments) {
    const { external_id: written } = info;
    const note = hostility.staffNotes.get(id);
    if (note !== undefined && info.note !== note) wrong.push(`prepayment ${id} lost what staff wrote: ${note}`);
    const asked = hostility.staffIds.get(id) ?? entries.get(id);
    const isExcused =
      named.has(id) ||
      (isFailed.has(id) && (written === null || hostility.culprits.has(`prepayment/${id}`))) ||
      hostility.unusable.has(`prepayment/${id}`);
    if (asked !== undefined && written !== asked && !isExcused)
      wrong.push(`prepayment ${id} names ${written} at the source, should name ${asked}`);
  }
  return wrong;
}

/** Prepayments with another value or none, by all records (E10), or by what the mirror noted of each (`problems`). */
async function problematic({ db, installation }: Judged, areAll: boolean): Promise<Set<number>> {
  const found = new Set<number>();
  for await (const each of writeBackFindings(db, installation.id, installation.dialect, { areAll }))
    if (each.found === 'another' || each.found === 'lost') found.add(each.prepayment);
  return found;
}

/**
 * For each posted prepayment, the id that its record must contain: the ERP's number, or our entry id if there is no
 * ERP.
 */
async function entriesOfPrepayments(
  db: Db,
  installation: number,
  held: readonly HeldEntry[] | null,
): Promise<Map<number, string | null>> {
  const numbers = new Map(held?.map(({ unitId, number }) => [unitId, number]));
  const posted = await query<{ id: number; entry: string }>(
    db,
    `select e.document_id::int as id, e.id as entry from entry e
     where e.installation = ? and e.kind = 'prepayment' and e.reverses is null
       and not exists (select from entry r where r.reverses = e.id)`,
    [installation],
  );
  return new Map(posted.map(({ id, entry }) => [id, held === null ? entry : (numbers.get(entry) ?? null)]));
}

/** The record of a posted prepayment must contain our entry id or the ERP's number. No other record may contain one. */
export async function wrongWriteBacks(
  db: Db,
  installation: number,
  held: readonly HeldEntry[] | null,
  prepayments: readonly { id: number; external_info: { external_id?: unknown } }[],
): Promise<string[]> {
  const entries = await entriesOfPrepayments(db, installation, held);
  return prepayments.flatMap(({ id, external_info: { external_id: written = null } }) => {
    const asked = entries.get(id) ?? null;
    return written === asked ? [] : [`prepayment ${id} names ${written} at the source, should name ${asked}`];
  });
}

/** Every unit must be in the ERP once, posted and with our amounts. The ERP must contain nothing else. */
export async function wrongInErp(db: Db, installation: number, held: HeldEntry[]): Promise<string[]> {
  const wrong: string[] = [];
  const units = await query<{ unit: string; state: string; problem: string | null; day: string; lines: string }>(
    db,
    `select e.id as unit, coalesce(u.state, 'not in the outbox') as state, u.problem_message as problem, e.entry_date::text as day,
       (select string_agg(t.account || ' ' || t.amount, ', ' order by t.account collate "C") from (
          select l.account, trim_scale(sum(case l.side when 'debit' then l.amount else -l.amount end))::text as amount
          from entry_line l where l.entry_id = e.id group by l.account) t) as lines
     from entry e left join erp_unit u on u.installation = e.installation and u.unit_id = e.id where e.installation = ?`,
    [installation],
  );
  const byUnit = Map.groupBy(held, ({ unitId }) => unitId);
  for (const { unit, state, problem, day, lines } of units) {
    const copies = byUnit.get(unit) ?? [];
    byUnit.delete(unit);
    const asked = state === 'cancelled_out' ? 0 : 1;
    if (asked === 1 && state !== 'delivered') wrong.push(`${unit} is ${state} (${problem})`);
    if (copies.length !== asked) wrong.push(`the ERP has ${unit} ${copies.length} times, and it is ${state}`);
    const [copy] = copies;
    if (!copy) continue;
    if (copy.state !== 'posted') wrong.push(`the ERP has ${unit} as a ${copy.state}`);
    if (copy.date !== day) wrong.push(`the ERP has ${unit} dated ${copy.date}, not ${day}`);
    const theirs = accountsOf(copy);
    if (theirs !== lines) wrong.push(`the ERP has ${unit} as ${theirs}; our books as ${lines}`);
  }
  for (const unit of byUnit.keys()) wrong.push(`the ERP has ${unit}, which our books do not`);
  return wrong;
}

function accountsOf({ lines }: HeldEntry): string {
  const amounts = new Map<string, Money>();
  for (const { account, amount } of lines) amounts.set(account, (amounts.get(account) ?? new Money(0)).plus(amount));
  return [...amounts]
    .map(([account, amount]) => `${account} ${amount.toFixed()}`)
    .sort()
    .join(', ');
}

/** Leases, windows and batches that were never ended. */
export async function leftBehind(db: Db, installation: number): Promise<string[]> {
  const found = await query<{ what: string }>(
    db,
    `select 'the lease of lane ' || lane || ' is held by ' || holder as what from lease where installation = ? and holder <> ''
     union all select 'window ' || id || ' is open' from sync_window where installation = ? and outcome = 'open'
     union all select 'unit ' || unit_id || ' is being sent' from erp_unit where installation = ? and state = 'sending'
     -- The lease of a holder that died expires, and the next holder looks up what was being sent. It is left behind only if
     -- an entry still needs it.
     union all select 'the company’s lease is held by ' || c.holder from lease c
       where c.lane = 'delivery' and (not is_in_order or holder <> '') and exists (select from erp_unit u
         where u.company = c.company and u.installation = ? and u.state in ('pending', 'sending', 'uncertain'))`,
    Array(4).fill(installation),
  );
  return found.map(({ what }) => what);
}
