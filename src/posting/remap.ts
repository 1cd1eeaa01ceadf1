import type { DraftEntry, Line } from '../domain/entry.ts';
import { storable } from '../domain/text.ts';
import { correct, decide } from './correct.ts';
import type { Decision, Judgement, PostedBefore, PostingContext } from './types.ts';

/**
 * What a mapping makes of a document in the books: `same` lines as they stand; `corrected`; `change_held` by a closed period;
 * `held`: by this mapping, or for a doubt about its facts, it could not be posted; `left`: what differs is not the mapping,
 * and the next window decides.
 */
export type RemapOutcome = 'same' | 'corrected' | 'change_held' | 'held' | 'left';

export interface Remap {
  outcome: RemapOutcome;
  decision: Decision;
  /** The entry that facts and mapping ask for now; null when they ask for none. */
  wanted: DraftEntry | null;
}

/**
 * What to write when the mapping counts as posted, too: a document whose posted facts are those in the books, but whose lines
 * come out differently now, is reversed and posted anew with the reason `mapping_changed` (ACCOUNTING "Locked" for the dates).
 */
export function decideRemap(judgement: Judgement, before: PostedBefore, context: PostingContext): Remap {
  const { inForce, remapHeld = false } = before;
  const { entry: wanted } = judgement;
  const otherwise = decide(judgement, before, context);
  const waiting = { ...otherwise, remapHeld: remapHeld && otherwise.entries.length === 0 };
  if (judgement.state === 'held') return { outcome: 'held', decision: waiting, wanted };
  if (!inForce || wanted?.inputHash !== inForce.inputHash) return { outcome: 'left', decision: waiting, wanted };
  if (sameLines(inForce.lines, wanted.lines)) return { outcome: 'same', decision: otherwise, wanted };
  const decision = correct(judgement, inForce, wanted, 'mapping_changed', context);
  if (decision.entries.length > 0) return { outcome: 'corrected', decision, wanted };
  return { outcome: 'change_held', decision: { ...decision, remapHeld: true }, wanted };
}

/** Whether two sets of lines say the same in the books, in whatever order and by whichever line of a mapping. */
export function sameLines(some: Line[], others: Line[]): boolean {
  const texts = (lines: Line[]) => lines.map(lineText).sort().join('\n');
  return texts(some) === texts(others);
}

/** All that a line says in the books. Row ids, rule and `mappedBy` tell how it came to be: they are no posted facts. */
function lineText(line: Line): string {
  const { party, internal, vat } = line;
  const said = [
    line.account,
    line.role,
    line.side,
    line.amount.toFixed(),
    party && [party.code, party.name, party.vatNumber, party.countryCode],
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
  // Lines in the books have been through the database, which keeps no NUL.
  return JSON.stringify(said, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value));
}
