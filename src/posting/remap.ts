import type { DraftEntry, Line } from '../domain/entry.ts';
import { storable } from '../domain/text.ts';
import { correct, decide, postsSameFacts } from './correct.ts';
import { doubtOf } from './late.ts';
import type { Decision, Judgement, PostedBefore, PostingContext } from './types.ts';

/**
 * The effect of a mapping on a document in the books:
 * `same`: it gives the same lines;
 * `corrected`: other lines, so the entry is reversed and posted again;
 * `change_held`: other lines, but the period is closed;
 * `held`: the document could not be posted, because the mapping lacks an account or its facts are in doubt;
 * `left`: the source's facts have changed, which is left to the next window.
 */
export type RemapOutcome = 'same' | 'corrected' | 'change_held' | 'held' | 'left';

export interface Remap {
  outcome: RemapOutcome;
  decision: Decision;
  /** The entry that facts and mapping ask for now; null when they ask for none. */
  wanted: DraftEntry | null;
}

/**
 * Decides what to write after a changed mapping: a document whose posted facts are those in the books, but whose lines differ,
 * is reversed and posted again with the reason `mapping_changed` (dates: ACCOUNTING "Locked").
 */
export function decideRemap(judgement: Judgement, before: PostedBefore, context: PostingContext): Remap {
  const { inForce, remapHeld = false } = before;
  const { entry: wanted } = judgement;
  const otherwise = decide(judgement, before, context);
  const waiting = { ...otherwise, remapHeld: remapHeld && otherwise.entries.length === 0 };
  // Once it can be posted, it is posted as the mapping asks for.
  if (judgement.state === 'held')
    return { outcome: 'held', decision: { ...otherwise, remapHeld: inForce !== null }, wanted };
  if (!inForce || !wanted || !postsSameFacts(judgement, inForce)) return { outcome: 'left', decision: waiting, wanted };
  if (sameLines(inForce.lines, wanted.lines)) return { outcome: 'same', decision: otherwise, wanted };
  // A doubtful date was settled when it was posted: the correction stays on that day.
  const isDoubtful = doubtOf(wanted, judgement.dating, context) !== null;
  const successor = isDoubtful ? { ...wanted, date: inForce.date } : wanted;
  const decision = correct(judgement, before, inForce, successor, 'mapping_changed', context);
  if (decision.entries.length > 0) return { outcome: 'corrected', decision, wanted };
  return { outcome: 'change_held', decision: { ...decision, remapHeld: true }, wanted };
}

/** Whether two sets of lines are equal in the books, regardless of order and of the mapping's line behind each. */
function sameLines(some: Line[], others: Line[]): boolean {
  const texts = (lines: Line[]) => lines.map(lineText).sort().join('\n');
  return texts(some) === texts(others);
}

/** The posted fields of a line as one text. The party's name, row ids, rule and `mappedBy` are its provenance and not compared. */
function lineText(line: Line): string {
  const { party, internal, vat } = line;
  const said = [
    line.account,
    line.role,
    line.side,
    line.amount.toFixed(),
    party && [party.code, party.vatNumber, party.countryCode],
    line.departmentId,
    line.dimensions,
    [internal.account, internal.dimension1, internal.dimension2],
    line.invoiceId,
    line.paymentType,
    line.documentNumber,
    line.dueDate,
    line.bankReference,
    vat && [vat.group, vat.rate?.toFixed() ?? null, vat.base?.toFixed() ?? null],
  ];
  // The database stores no NUL, so lines from the books have lost theirs.
  return JSON.stringify(said, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value));
}
