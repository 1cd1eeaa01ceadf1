import { type ActedBy, checkShown, recordAction } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { lockDocuments } from '../documents/document.ts';
import { type LateDocument, lateByIds, lateDocuments } from '../documents/late-documents.ts';
import { UserError } from '../domain/errors.ts';
import { holdPeriod } from '../ledger/close.ts';
import type { LateDecisionKind } from '../posting/types.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { confirmGone } from './confirm-gone.ts';
import { checkDecidable, decideLate } from './decide-late.ts';
import { decisionsOf } from './late-decision-store.ts';
import { type LateFilter, matchesLate, matchesWeighed } from './late-filter.ts';
import { holdMapping } from './mapping-versions.ts';
import { changesBetween, hashOfShown, shownText } from './shown-decision.ts';
import { type WeighedChoice, weighDecision } from './weigh-decision.ts';

/** Documents by id, or all that a filter selects. */
export type LateSelection = { named: ReadonlyMap<InstallationId, readonly DocumentRef[]> } | { filter: LateFilter };

export interface DecideOptions {
  clock: () => Date;
  /**
   * The choices that the person has seen, or their hash. A decision with other effects is refused. Null if nothing was
   * shown.
   */
  shown: readonly WeighedChoice[] | string | null;
}

/**
 * Selects documents and weighs a decision about them. Writes nothing. Throws UserError if the decision is not possible
 * for one of them, or if only some of the missing documents of a problem `source_shrank` are selected.
 */
export async function weighChoice(
  trx: Connection,
  installations: readonly InstallationConfig[],
  selection: LateSelection,
  decision: LateDecisionKind,
  clock: () => Date,
): Promise<WeighedChoice[]> {
  const choices: WeighedChoice[] = [];
  for (const installation of installations) {
    const { id } = installation;
    const late = await selected(trx, id, selection, decision);
    if (late.length === 0) continue;
    const weighed = await weighDecision(trx, installation, late, decision, clock);
    const documents =
      'filter' in selection ? weighed.filter((each) => matchesWeighed(selection.filter, each)) : weighed;
    const keys = new Set(documents.map(({ kind, id: number }) => `${kind}/${number}`));
    const chosen = late.filter(({ kind, id: number }) => keys.has(`${kind}/${number}`));
    for (const each of chosen) checkDecidable(id, each, each, decision);
    refusePart(late, chosen);
    if (documents.length > 0) choices.push({ installation, documents });
  }
  return choices;
}

async function selected(
  db: Connection,
  installation: InstallationId,
  selection: LateSelection,
  decision: LateDecisionKind,
): Promise<LateDocument[]> {
  if ('filter' in selection) return chooseLate(db, installation, selection.filter);
  return namedLate(db, installation, selection.named.get(installation) ?? [], decision);
}

/** The documents of an installation that meet the filter's conditions on documents alone. */
export async function chooseLate(
  db: Connection,
  installation: InstallationId,
  filter: LateFilter,
): Promise<LateDocument[]> {
  const late = await lateDocuments(db, installation);
  const decisions = await decisionsOf(db, installation, late);
  const decisionOf = ({ kind, id, version }: LateDocument) =>
    decisions.get(`${kind}/${id}`)?.find((each) => each.version === version)?.decision ?? null;
  const matching = late.filter((each) => matchesLate(filter, each, decisionOf(each)));
  refusePart(
    late.filter((each) => decisionOf(each) === null),
    matching,
  );
  return matching;
}

async function namedLate(
  db: Connection,
  installation: InstallationId,
  named: readonly DocumentRef[],
  decision: LateDecisionKind,
): Promise<LateDocument[]> {
  const found = await lateByIds(db, installation, named);
  return named.map(({ kind, id }) => {
    const own = found.find((each) => each.kind === kind && each.id === id) ?? null;
    return checkDecidable(installation, { kind, id }, own, decision, { isNamed: true });
  });
}

/** Throws if a part of the missing documents of one problem `source_shrank` is chosen. */
function refusePart(open: readonly LateDocument[], chosen: readonly LateDocument[]): void {
  const isAlike = ({ problem, kind }: LateDocument) =>
    problem === 'source_shrank' && chosen.some((each) => each.problem === problem && each.kind === kind);
  if (open.some((each) => isAlike(each) && !chosen.includes(each))) throw new UserError(lateErrors.partOfMany(), 2);
}

/**
 * Weighs a decision again and records it, in the transaction of the caller. If the decision would no longer do what was shown, it
 * throws UserError and records nothing.
 */
export async function decideChoice(
  trx: Connection,
  installations: readonly InstallationConfig[],
  selection: LateSelection,
  { decision, ...by }: ActedBy & { decision: LateDecisionKind },
  { clock, shown }: DecideOptions,
): Promise<WeighedChoice[]> {
  // Until the transaction ends, no window judges the documents, no period is closed, and no mapping is changed.
  for (const installation of installations) {
    const documents = await selected(trx, installation.id, selection, decision);
    if (documents.length === 0) continue;
    await lockDocuments(trx, installation.id, documents);
    await holdPeriod(trx, installation.id);
    await holdMapping(trx, installation);
  }
  const now = await weighChoice(trx, installations, selection, decision, clock);
  if (typeof shown === 'string') checkShown(shown, hashOfShown(decision, now));
  if (shown !== null && typeof shown !== 'string') {
    const changes = changesBetween(shown, now);
    if (changes.length > 0) {
      const first = changes.slice(0, 10).join('; ');
      throw new UserError(lateErrors.changedShown({ changes: first, more: changes.length - 10 }), 2);
    }
  }
  for (const { installation, documents } of now) {
    const deciding = { decision, ...by, shown: shownText(decision, [{ installation, documents }]) };
    await decideAll(trx, installation.id, documents, deciding, { chosen: 'filter' in selection });
  }
  return now;
}

/**
 * Records one decision about several documents of an installation, as one action. `chosen` is true if a filter selected
 * them, so that a problem `source_shrank` is complete. Throws UserError and decides nothing if the decision is not
 * possible for one document.
 */
export async function decideAll(
  trx: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
  { decision, shown, ...by }: ActedBy & { decision: LateDecisionKind; shown?: string },
  { chosen }: { chosen: boolean },
): Promise<LateDocument[]> {
  const input = { decision, documents: documents.map(({ kind, id }) => `${kind}/${id}`) };
  const { id: action } = await recordAction(trx, {
    ...{ installation, kind: 'decide_late', by, input },
    ...(shown === undefined ? {} : { shown }),
  });
  if (chosen && decision === 'confirm_gone') return confirmGone(trx, installation, documents, action);
  const decided: LateDocument[] = [];
  for (const { kind, id } of documents) {
    decided.push(await decideLate(trx, installation, { kind, id }, { decision, action }));
  }
  return decided;
}
