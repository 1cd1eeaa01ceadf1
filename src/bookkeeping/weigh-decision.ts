import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { documentsByIds } from '../documents/document.ts';
import { isMissing, type LateDocument, versionGone } from '../documents/late-documents.ts';
import { type DraftEntry, type Line, reversedLines, signed } from '../domain/entry.ts';
import { UserError } from '../domain/errors.ts';
import { type Money, zero } from '../domain/money.ts';
import { everClosedThrough, vatLateness } from '../ledger/journal/vat-lateness.ts';
import { entryContentHash } from '../posting/entry-content.ts';
import { judge, post } from '../posting/index.ts';
import type { Decision, DocumentFacts, LateDecisionKind, PostedBefore } from '../posting/types.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { casesOf, judgingBatch } from './judge-documents.ts';
import { knownLockDates } from './lock-dates.ts';
import { postedBy } from './posted-by.ts';
import { postingContexts } from './posting-context.ts';
import { PrepaymentShares } from './prepayment-shares.ts';

/** The effects of a decision about a document. The document is judged as in a window, but nothing is saved. */
export interface WeighedDocument extends DocumentRef {
  code: string;
  date: CalendarDate | null;
  /** The version that the decision is about. */
  version: string;
  /** The document's amount and VAT; for a posted document, the differences from its entry. */
  amount: Money | null;
  vat: Money | null;
  departments: readonly number[];
  /** The day on which the next window posts. Null if it posts nothing: then `effects` stays out of the books. */
  day: CalendarDate | null;
  /** Set for `redate` if that day was closed before and is open again, because its month may be declared. */
  isReopened?: true;
  /** Hashes of the entries that the next window posts. */
  entries: readonly string[];
  effects: readonly DecisionEffect[];
  /** The code of the problem that stays, or null. Absent for a decision, which is weighed without it. */
  left?: string | null;
}

/** A decision about documents of an installation, with its effects. */
export interface WeighedChoice {
  installation: InstallationConfig;
  documents: readonly WeighedDocument[];
}

/** The effect on an account in one VAT period; a debit is positive. */
export interface DecisionEffect {
  account: string;
  isVat: boolean;
  vatPeriod: string;
  isLate: boolean;
  amount: Money;
}

/**
 * Weighs a decision about late documents. Throws UserError if a window would find another version of one of them now than
 * the stored one.
 */
export async function weighDecision(
  trx: Connection,
  installation: InstallationConfig,
  documents: readonly LateDocument[],
  decision: LateDecisionKind,
  clock: () => Date,
): Promise<WeighedDocument[]> {
  const contextFor = postingContexts(installation, knownLockDates(trx, installation.id), clock);
  const { vat } = await postedBy(trx, installation);
  const everClosed = await everClosedThrough(trx, installation.id);
  const latenessOf = await vatLateness(trx, installation.id, vat);
  const weighed: WeighedDocument[] = [];
  const changed: string[] = [];
  for (let at = 0; at < documents.length; at += judgingBatch) {
    const batch = documents.slice(at, at + judgingBatch);
    const stored = await documentsByIds(trx, installation.id, batch);
    const late = new Map(batch.map((each) => [`${each.kind}/${each.id}`, each]));
    const { cases, context } = await casesOf(trx, installation, contextFor, stored);
    const shares = await PrepaymentShares.of(
      trx,
      installation,
      cases.map(({ facts }) => facts),
    );
    for (const { document, facts: bare } of cases) {
      const { kind, id, before } = document;
      const known = late.get(`${kind}/${id}`);
      const facts = shares?.add(bare) ?? bare;
      // Earlier decisions are left out. The next window would apply them.
      const present = post(facts, { ...before, decisions: [] }, context);
      const version = versionNow(present, before);
      if (decision === 'confirm_gone' && !isMissing({ problem: present.problem?.code ?? null })) {
        throw new UserError(lateErrors.notMissing({ document: `${installation.id}/${kind}/${id}` }), 1);
      }
      if (known === undefined || version === null || version !== known.version) {
        changed.push(`${kind} ${id}`);
        continue;
      }
      const [factsThen, beforeThen] = decided(facts, before, { decision, version });
      const then = post(factsThen, beforeThen, context);
      shares?.decided(bare, then);
      const wanted = judge(factsThen, context, before.documentDate).entry;
      const drafts = then.entries.length > 0 ? then.entries : keptOut(before, wanted);
      const day = then.entries.at(-1)?.date ?? null;
      const isReopened = decision === 'redate' && day !== null && everClosed !== null && day <= everClosed;
      weighed.push({
        ...{ kind, id, code: known.problem ?? '', date: known.documentDate, version },
        ...{ amount: present.outside?.amount ?? null, vat: present.outside?.vat ?? null },
        departments: departmentsOf([...(before.inForce?.lines ?? []), ...(wanted?.lines ?? [])]),
        ...{ day, ...(isReopened && { isReopened }) },
        entries: then.entries.map((entry) => `${entry.date} ${entry.reverses ?? ''} ${entryContentHash(entry)}`),
        effects: effectsOf(drafts.map((draft) => ({ draft, ...latenessOf(draft, undefined) }))),
      });
    }
  }
  if (changed.length > 0) {
    const documents = changed.slice(0, 5).join(', ');
    throw new UserError(lateErrors.changedSince({ documents, more: changed.length - 5 }), 2);
  }
  return weighed;
}

/** The version of the document to which a decision would apply now. */
function versionNow({ late, problem }: Decision, { inForce }: PostedBefore): string | null {
  return isMissing({ problem: problem?.code ?? null }) ? inForce && versionGone(inForce.id) : (late?.version ?? null);
}

/** The facts and history of a document as they are after the decision. */
function decided(
  facts: DocumentFacts,
  before: PostedBefore,
  { decision, version }: { decision: LateDecisionKind; version: string },
): [DocumentFacts, PostedBefore] {
  if (decision !== 'confirm_gone') {
    return [facts, { ...before, decisions: [{ decision, version }, ...(before.decisions ?? [])] }];
  }
  if (facts.absence) return [{ ...facts, gone: true, absence: null }, before];
  if (facts.kind !== 'invoice') return [facts, before];
  const missing = facts.missingRows ?? [];
  return [{ ...facts, rows: facts.rows.filter(({ id }) => !missing.includes(id)), missingRows: [] }, before];
}

type Part = Pick<DraftEntry, 'documentDate' | 'lines'>;

/** The effects that stay out of the books if nothing is posted: the entry that the document would have, less the entry in force. */
export function keptOut({ inForce }: Pick<PostedBefore, 'inForce'>, wanted: DraftEntry | null): Part[] {
  const reversal =
    inForce === null ? [] : [{ documentDate: inForce.documentDate, lines: reversedLines(inForce.lines) }];
  return wanted === null ? reversal : [...reversal, wanted];
}

export function departmentsOf(lines: readonly Line[]): number[] {
  return [...new Set(lines.flatMap(({ departmentId }) => departmentId ?? []))].sort((a, b) => a - b);
}

/** The sums by account, VAT period and lateness, without zeros. */
export function effectsOf(parts: readonly { draft: Part; vatPeriod: string; isLate: boolean }[]): DecisionEffect[] {
  const effects = parts.flatMap(({ draft, vatPeriod, isLate }) =>
    draft.lines.map((line) => ({
      ...{ account: line.account, isVat: line.role === 'vat', vatPeriod, isLate, amount: signed(line) },
    })),
  );
  return addedEffects(effects);
}

/** Adds up effects on the same account in the same VAT period, in order; zeros are left out. */
export function addedEffects(effects: readonly DecisionEffect[]): DecisionEffect[] {
  const keyOf = ({ account, vatPeriod, isLate, isVat }: DecisionEffect) =>
    JSON.stringify([vatPeriod, isLate, account, isVat]);
  return [...Map.groupBy(effects, keyOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...others]]) => {
      if (first === undefined) return [];
      const amount = others.reduce((all, each) => all.plus(each.amount), first.amount);
      return amount.isZero() ? [] : [{ ...first, amount }];
    });
}

/** The largest amount that the document moves on one account, as in the filter `amount`. */
export function largestEffect({ effects }: Pick<WeighedDocument, 'effects'>): Money {
  const byAccount = Map.groupBy(effects, ({ account }) => account);
  return [...byAccount.values()]
    .map((of) => of.reduce((all, { amount }) => all.plus(amount), zero).abs())
    .reduce((largest, each) => (each.greaterThan(largest) ? each : largest), zero);
}
