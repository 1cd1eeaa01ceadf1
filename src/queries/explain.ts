import { loadFacts } from '../bookkeeping/facts.ts';
import { decisionsOf, type RecordedDecision } from '../bookkeeping/late-decision-store.ts';
import { postingContexts } from '../bookkeeping/posting-context.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { bool, instant, integer, json, nullable, text } from '../db/columns.ts';
import { type Connection, maybeRow, rows } from '../db/rows.ts';
import type { LedgerEntry } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import { todoOf } from '../domain/problem-texts.ts';
import { type EntryRecord, entryRecords } from '../ledger/journal/entry-records.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import { type SummaryOfEntry, summariesOf } from '../ledger/summaries/read-summaries.ts';
import type { AccountNames } from '../mapping/account-names.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import type { FieldChange } from '../posting/changed-fields.ts';
import { judge } from '../posting/index.ts';
import type { DocumentFacts, Judgement, PostingContext } from '../posting/types.ts';
import { type KnownMatch, matchOfPayment, refundsOfPrepayment, usesOfPrepayment } from '../prepayments/matches.ts';
import { type ExternalId, externalIdIn } from '../records/external-id.ts';
import { readJson } from '../records/json.ts';
import { type InvoiceOrigin, originOf } from '../records/schema.ts';
import { readAccountNames } from '../reports/account-names.ts';
import type { CalendarDate, DocumentRef, DocumentState } from '../terms.ts';
import { type WrittenBack, writtenBack } from '../writeback/questions.ts';
import { deliveriesOf, type UnitDelivery } from './delivery-status.ts';
import { type LikelyPair, likelyPairOf, noPair } from './explain-cancelled.ts';
import { changesOf } from './explain-changes.ts';
import { type ExplainedMove, movesOfDocument } from './explain-due.ts';
import { type Proof, proofsOf } from './explain-proofs.ts';
import { invoicesNamed, type RelatedDocument, relatedDocuments, relatedRefs } from './explain-related.ts';
import type { FoundDocument } from './found-documents.ts';
import { invoiceNumbers } from './invoice-numbers.ts';

/**
 * Whether a decision about a late document applies. `replaced`: a newer decision concerns the same version.
 * `earlier_version`: the decision concerns an earlier version of the document. `late_no_more`: the decision was carried
 * out, or the document is not late any more.
 */
export type DecisionStanding = 'holds' | 'replaced' | 'earlier_version' | 'late_no_more';

/** All stored data about one document, from the source to the books. */
export interface Explanation {
  installation: number;
  document: DocumentRef;
  state: DocumentState;
  documentDate: CalendarDate | null;
  problem: { code: string; message: string; todo: string; since: Date | null } | null;
  reports: { code: string; message: string }[];
  /** Newest first. */
  versions: SourceVersion[];
  /** The facts of the document. Null if the mirror does not hold it. */
  facts: DocumentFacts | null;
  /** The judgement of the present facts by the current mapping and locks. Nothing is posted. */
  judgement: Judgement | null;
  proofs: Proof[];
  /** Decisions about the document, newest first. `holds`: the decision is about the current version. */
  decisions: (RecordedDecision & { holds: boolean; standing: DecisionStanding })[];
  /** All entries of the document, in the order in which they were appended. */
  entries: LedgerEntry[];
  /** For each entry by id: when, by which window and with which mapping it was posted. */
  records: Map<string, EntryRecord>;
  /** Id of the entry in force. */
  inForce: string | null;
  /** The daily summary that contains an entry, by the entry's id. */
  summaries: Map<string, SummaryOfEntry>;
  /** Deliveries of an entry or of its summary, by its id, followed by their undos; empty if nothing is delivered. */
  deliveries: Map<string, UnitDelivery[]>;
  writeBack: WrittenBack | null;
  /** For an invoice, its payments, original and members. For a payment, its invoice. For a refund, its original. */
  related: RelatedDocument[];
  /** For a prepayment: its refunds and uses. */
  refunds: { id: number; amount: Money }[];
  uses: KnownMatch[];
  /** For a payment of type 8: the prepayments that it used, and how they were determined. */
  match: KnownMatch[];
  /** For a payment or latest day with VAT on payment: what became due, and why. */
  due: ExplainedMove[];
  /** For an invoice: the consultation from which it was made. */
  origin: InvoiceOrigin | null;
  /** For a payment: its probable original or cancellation. */
  pair: LikelyPair;
  /** For each reversal by id: what its successor has changed. Empty without a successor. */
  changes: Map<string, FieldChange[]>;
  /** The names of accounts, and the numbers printed on related invoices by id. */
  names: AccountNames;
  numbers: Map<number, string>;
  /** The time zone for shown times. */
  timezone: string;
  decimals: number;
}

/** One version of the document's record in the mirror. */
export interface SourceVersion {
  version: number;
  modified: Date | null;
  sourceTime: Date;
  goneAt: Date | null;
  current: boolean;
  /** JSON text with the digits as received. */
  raw: string;
}

/**
 * Collects the data about a document: the versions of its record, the current judgement by the rules, its entries and
 * its write-back.
 */
export async function explainDocument(
  db: Connection,
  installation: InstallationConfig,
  found: FoundDocument,
): Promise<Explanation> {
  const { id: installationId, decimals, dialect } = installation;
  const document = { kind: found.kind, id: found.id };
  const [facts = null] = await loadFacts(db, installationId, dialect, [document]);
  const judgement = facts && (await judgeNow(db, installation, facts, found));
  const entries = await entriesOf(db, installationId, document);
  const entryIds = entries.map(({ id }) => id);
  const summaries = await summariesOf(db, entryIds);
  const versions = await versionsOf(db, installationId, document);
  const latest = versions[0];
  return {
    installation: installationId,
    document,
    state: found.state,
    documentDate: found.documentDate,
    problem: found.problem && { ...found.problem, todo: todoOf(found.problem.code) },
    reports: await reportsOf(db, installationId, document),
    versions,
    facts,
    judgement,
    proofs: facts && judgement ? proofsOf(facts, judgement, decimals) : [],
    decisions: await decisionsAbout(db, installationId, document),
    entries,
    records: await entryRecords(db, entryIds),
    inForce: found.entryId,
    summaries,
    deliveries: await deliveriesOf(db, installationId, [
      ...entryIds,
      ...[...summaries.values()].map((summary) => summary.id),
    ]),
    writeBack: stillShown(
      await writtenBack(db, installationId, found),
      latest && found.kind !== 'vat_due' ? externalIdIn(dialect, found.kind, readJson(latest.raw)) : null,
    ),
    refunds: found.kind === 'prepayment' ? await refundsOfPrepayment(db, installationId, found.id) : [],
    uses: found.kind === 'prepayment' ? await usesOfPrepayment(db, installationId, found.id) : [],
    due: facts === null ? [] : await movesOfDocument(db, installation, facts, await contextOf(db, installation, facts)),
    match: found.kind === 'payment' ? await matchOfPayment(db, installationId, found.id) : [],
    pair: facts?.kind === 'payment' ? await likelyPairOf(db, installationId, dialect, facts.payment) : noPair,
    origin: found.kind === 'invoice' && latest ? originOf(readJson(latest.raw), dialect) : null,
    timezone: installation.timezone,
    changes: changesOf(entries, decimals),
    names: await readAccountNames(db, installation),
    numbers: await invoiceNumbers(db, installation, invoicesNamed(entries, facts)),
    related: facts ? await relatedDocuments(db, installationId, relatedRefs(facts)) : [],
    decimals,
  };
}

async function decisionsAbout(
  db: Connection,
  installation: number,
  document: DocumentRef,
): Promise<Explanation['decisions']> {
  const decisions = (await decisionsOf(db, installation, [document])).get(`${document.kind}/${document.id}`) ?? [];
  if (decisions.length === 0) return [];
  const late = await maybeRow(
    db,
    { version: nullable(text) },
    'select late_version as version from document where installation = ? and kind = ? and id = ?',
    [installation, document.kind, document.id],
  );
  // The newest decision is about the version that was last late. If the document is not late any more, that decision is
  // settled.
  const last = late?.version ?? decisions[0]?.version;
  return decisions.map((each, index) => {
    const isReplaced = decisions.slice(0, index).some(({ version }) => version === each.version);
    const standing = isReplaced
      ? 'replaced'
      : each.version !== last
        ? 'earlier_version'
        : late?.version
          ? 'holds'
          : 'late_no_more';
    return { ...each, holds: standing === 'holds', standing };
  });
}

/** Uses the lock dates that were last read: explaining sends no request to the source. */
async function judgeNow(
  db: Connection,
  installation: InstallationConfig,
  facts: DocumentFacts,
  { kind, documentDate }: FoundDocument,
): Promise<Judgement> {
  return judge(facts, await contextOf(db, installation, facts), kind === 'invoice' ? null : documentDate);
}

async function contextOf(
  db: Connection,
  installation: InstallationConfig,
  facts: DocumentFacts,
): Promise<PostingContext> {
  const locks = await departmentLocks(db, installation.id);
  return postingContexts(installation, async (department) => locks.get(department) ?? null)(db, [facts]);
}

function reportsOf(db: Connection, installation: number, { kind, id }: DocumentRef): Promise<Explanation['reports']> {
  return rows(
    db,
    { code: text, message: text },
    'select code, message from document_report where installation = ? and kind = ? and id = ? order by code',
    [installation, kind, id],
  );
}

async function versionsOf(db: Connection, installation: number, { kind, id }: DocumentRef): Promise<SourceVersion[]> {
  const found = await rows(
    db,
    {
      version: integer,
      modified: nullable(instant),
      source_time: instant,
      gone_at: nullable(instant),
      current: bool,
      raw: json,
    },
    `select version, modified, source_time, gone_at, true as current, raw
     from mirror_record where installation = ? and kind = ? and id = ?
     union all
     select version, modified, source_time, null, false, raw
     from mirror_version where installation = ? and kind = ? and id = ?
     order by version desc`,
    [installation, kind, id, installation, kind, id],
  );
  return found.map(({ source_time, gone_at, ...version }) => ({
    ...version,
    sourceTime: source_time,
    goneAt: gone_at,
  }));
}

async function entriesOf(db: Connection, installation: number, { kind, id }: DocumentRef): Promise<LedgerEntry[]> {
  const found = await rows(
    db,
    { id: text },
    'select id from entry where installation = ? and kind = ? and document_id = ? order by n',
    [installation, kind, id],
  );
  return loadEntries(
    db,
    found.map((entry) => entry.id),
  );
}

/** A confirmed value counts as unconfirmed if the newest version of the record shows another value. */
function stillShown(writeBack: WrittenBack | null, shown: ExternalId | null): WrittenBack | null {
  if (writeBack === null || !shown?.isCarried) return writeBack;
  return { ...writeBack, confirmed: writeBack.confirmed && shown.value === writeBack.value };
}
