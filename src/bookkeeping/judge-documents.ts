import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import type { StoredDocument } from '../documents/document.ts';
import type { Problem } from '../domain/problems.ts';
import { inSlices, mapped } from '../domain/slices.ts';
import { asideProblems } from '../mirror/put-aside.ts';
import { isCertainInLoad } from '../posting/in-load.ts';
import { isLocked, post, type Remap, remap } from '../posting/index.ts';
import { refOf } from '../posting/name-absence.ts';
import type { Decision, DocumentFacts, PostingContext, PrepaymentShare } from '../posting/types.ts';
import { type CalendarDate, type DocumentKind, type DocumentRef, documentKinds } from '../terms.ts';
import { loadFacts } from './facts.ts';
import { type DocumentWithHistory, withHistory } from './history.ts';
import type { ContextFor } from './posting-context.ts';
import { type DecidedVats, PrepaymentShares } from './prepayment-shares.ts';
import { type DecidedInvoices, VatDueBatch } from './vat-due-batch.ts';

/** Documents that are judged together: enough to save round trips, few enough to limit locks and memory. */
export const judgingBatch = 300;

/** A document and its decision. */
export interface JudgedDocument {
  document: DocumentWithHistory;
  decision: Decision;
  /** A proof failed, and the rows or payments have not been fetched again since then. */
  awaitsParts: boolean;
  /** The shares of prepayments that the judgement used. */
  shares: readonly PrepaymentShare[];
  /** True if no document that a first load still has to read can change the decision (src/posting/in-load.ts). */
  isCertain: boolean;
}

/** The documents of a batch, and the VAT on payment after their decisions. `due` is null if the installation posts no VAT on payment. */
export interface JudgedBatch {
  judged: JudgedDocument[];
  due: VatDueBatch | null;
  today: CalendarDate | null;
}

/**
 * Judges documents with the present data of the mirror, through the pure core, and writes nothing. With `finalRound`, it also
 * decides about documents whose parts were not fetched again. A preview always does that, and a window does it in its last round.
 */
export async function judgeDocuments(
  db: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  documents: readonly StoredDocument[],
  { finalRound }: { finalRound: boolean },
): Promise<JudgedBatch> {
  const aside = await asideProblems(db, installation.id, documents);
  const isAside = (document: DocumentRef) => aside.has(keyOf(document));
  const held = (await withHistory(db, installation.id, documents.filter(isAside))).map((document) =>
    heldAside(document, aside.get(keyOf(document)) ?? null),
  );
  const readable = documents.filter((document) => !isAside(document));
  const { cases, context } = await casesOf(db, installation, contextFor, readable);
  const shares = await PrepaymentShares.of(
    db,
    installation,
    cases.map(({ facts }) => facts),
  );
  const due = await VatDueBatch.of(
    db,
    installation,
    cases.map(({ facts }) => facts),
    context,
  );
  const decide = ({ document, facts }: Case) => {
    const withShares = shares?.add(facts) ?? facts;
    const completeFacts = due?.add(withShares) ?? withShares;
    const found = post(completeFacts, document.before, context);
    const awaitsParts = found.refetch && document.refetch !== 'done';
    const decision = awaitsParts && !finalRound ? undecided(document, found) : found;
    shares?.decided(facts, decision);
    due?.decided(facts, decision);
    return {
      document,
      decision,
      awaitsParts,
      shares: sharesOf(completeFacts),
      isCertain: isCertainInLoad(completeFacts, found),
    };
  };
  const judged = await inSlices(mapped(cases, ({ facts }) => unitsPerPart * partsOf(facts), decide));
  return { judged: [...held, ...judged], due, today: context.today ?? null };
}

/** Holds a document if a part of it could not be stored; its entry in force stays. */
function heldAside(document: DocumentWithHistory, problem: Problem | null): JudgedDocument {
  const { documentDate, inForce, remapHeld = false, late = null } = document.before;
  const state = inForce === null ? 'held' : 'posted';
  const decision: Decision = {
    state,
    entries: [],
    problem,
    reports: [],
    refetch: false,
    documentDate,
    remapHeld,
    late,
  };
  return { document, decision, awaitsParts: false, shares: [], isCertain: false };
}

function sharesOf(facts: DocumentFacts): readonly PrepaymentShare[] {
  return 'shares' in facts ? (facts.shares ?? []) : [];
}

/** If rows or payments are out of date, no decision is possible, and the document keeps its state. */
function undecided({ before }: DocumentWithHistory, decision: Decision): Decision {
  const { outside: _, ...rest } = decision;
  return {
    ...rest,
    state: before.state ?? 'pending',
    entries: [],
    problem: null,
    reports: [],
    documentDate: before.documentDate,
    remapHeld: before.remapHeld ?? false,
    late: before.late ?? null,
  };
}

/**
 * A repost reads the books twice. Prepayments come first, because the VAT of their uses and refunds follows the entries
 * of the first pass (ACCOUNTING R5).
 */
export const remapPasses = ['received', 'others'] as const;
export type RemapPass = (typeof remapPasses)[number];

/** The kinds of documents that each pass reads. */
export const kindsOf: Record<RemapPass, readonly DocumentKind[]> = { received: ['prepayment'], others: documentKinds };

function isOf(pass: RemapPass, facts: DocumentFacts): boolean {
  return (facts.kind === 'prepayment' && facts.prepayment.refundsId === null) === (pass === 'received');
}

/**
 * A posted document, its judgement under the present mapping, and the shares of prepayments that the judgement used.
 */
export interface RemappedCase {
  document: DocumentWithHistory;
  remap: Remap;
  /** Whether the day of the document's entry in force is closed. */
  isClosed: boolean;
  shares: readonly PrepaymentShare[];
}

export interface RemappedBatch extends Pick<JudgedBatch, 'due' | 'today'> {
  remapped: RemappedCase[];
}

/**
 * Judges the posted documents of a pass under the installation's mapping, from the mirror; writes nothing. `decided`
 * are prepayments of an earlier batch whose entries are not written.
 */
export async function remapDocuments(
  db: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  documents: readonly StoredDocument[],
  { pass, decided, decidedInvoices }: { pass: RemapPass; decided?: DecidedVats; decidedInvoices?: DecidedInvoices },
): Promise<RemappedBatch> {
  const { cases: read, context } = await casesOf(db, installation, contextFor, documents);
  const cases = read.filter(({ facts }) => isOf(pass, facts));
  const shares = await PrepaymentShares.of(
    db,
    installation,
    cases.map(({ facts }) => facts),
    decided,
  );
  const due = await VatDueBatch.of(
    db,
    installation,
    cases.map(({ facts }) => facts),
    context,
    decidedInvoices,
  );
  const remapped = cases.map(({ document, facts }) => {
    const withShares = shares?.add(facts) ?? facts;
    const completeFacts = due?.add(withShares) ?? withShares;
    const found = remap(completeFacts, document.before, context);
    shares?.decided(facts, found.decision);
    due?.decided(facts, found.decision);
    const { inForce } = document.before;
    const isClosed = inForce !== null && isLocked(inForce, context);
    return { document, remap: found, isClosed, shares: sharesOf(completeFacts) };
  });
  return { remapped, due, today: context.today ?? null };
}

/** The cost of judging one record of a document, in units of src/domain/slices.ts. */
const unitsPerPart = 10_000;

function partsOf(facts: DocumentFacts): number {
  return facts.kind === 'invoice' ? 1 + facts.rows.length + facts.payments.length : 1;
}

interface Case {
  document: DocumentWithHistory;
  facts: DocumentFacts;
}

/** Documents with their history and facts, in their order, and the context to judge them in. */
export async function casesOf(
  db: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  documents: readonly StoredDocument[],
): Promise<{ cases: Case[]; context: PostingContext }> {
  const facts = await loadFacts(db, installation.id, installation.dialect, documents);
  const factsByKey = new Map(facts.map((one) => [keyOf(refOf(one)), one]));
  const cases = (await withHistory(db, installation.id, documents)).map((document) => {
    const found = factsByKey.get(keyOf(document));
    if (!found) throw new Error(`${document.kind} ${document.id} is to be posted but is not in the mirror`);
    return { document, facts: found };
  });
  return {
    cases,
    context: await contextFor(
      db,
      cases.map((one) => one.facts),
    ),
  };
}

function keyOf({ kind, id }: DocumentRef): string {
  return `${kind}/${id}`;
}
