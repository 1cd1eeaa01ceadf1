import type { Connection } from '../../db/rows.ts';
import { type Money, zero } from '../../domain/money.ts';
import { type GeneralLedgerUnit, loadUnits } from '../../ledger/general-ledger.ts';
import type { InstallationId } from '../../terms.ts';
import { erpBookFindings } from '../../texts/findings/delivery.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import type { ErpProblem } from '../port.ts';
import { type CopiedUnit, unitsLabelled, unitsWithErpId } from './copied-units.ts';

/** An entry that the ERP, or a user in the ERP, made from one of ours. */
export interface Copy {
  found: FoundEntry;
  of: CopiedUnit;
  /** Whether this entry reverses the entry that it copies. */
  isReversal: boolean;
  /** The base of a tax has the opposite direction of its amounts. */
  isBaseWrong: boolean;
}

type Translate = (unit: GeneralLedgerUnit) => { entry: ErpEntry } | { problems: ErpProblem[] };

/**
 * Finds copies of delivered units among entries without a key of ours. A copy names a unit's entry as its origin. Or it
 * has the labels, accounts and amounts of a unit, all in the same direction or all in the opposite one.
 */
export async function copiesAmong(
  db: Connection,
  installation: InstallationId,
  entries: readonly FoundEntry[],
  translate: Translate,
): Promise<Copy[]> {
  const asked = entries.flatMap(({ id, originId }) => (originId === undefined ? [id] : [id, originId]));
  const byErpId = new Map((await unitsWithErpId(db, installation, asked)).map((unit) => [unit.erpId, unit]));
  const labels = entries.flatMap(({ lines }) => lines.flatMap(({ label }) => label || []));
  const labelled = await unitsLabelled(db, installation, [...new Set(labels)]);
  const known = [...byErpId.values(), ...labelled];
  if (known.length === 0) return [];
  const units = await loadUnits(
    db,
    known.map(({ kind, unitId: id }) => ({ kind, id })),
  );
  const sent = new Map(
    units.flatMap((unit) => {
      const translated = translate(unit);
      return 'entry' in translated ? [[unit.posting.id, translated.entry] as const] : [];
    }),
  );
  return entries.flatMap((found): Copy[] => {
    // A user removed the key from our entry, so the entry is no copy.
    if (byErpId.has(found.id)) return [];
    const named = byErpId.get(found.originId ?? '');
    const candidates = named === undefined ? labelled.filter(isLabelledAs(found, sent)) : [named];
    for (const of of candidates) {
      const entry = sent.get(of.unitId);
      const direction = entry === undefined ? null : directionOf(entry, found);
      if (named === undefined && direction === null) continue;
      const isReversal = named !== undefined || direction === 'reversed';
      const isBaseWrong = entry !== undefined && direction !== null && !hasBases(entry, found, isReversal);
      return [{ found, of, isReversal, isBaseWrong }];
    }
    return [];
  });
}

function isLabelledAs({ lines }: FoundEntry, sent: ReadonlyMap<string, ErpEntry>) {
  const labels = new Set(lines.map(({ label }) => label));
  return ({ unitId }: CopiedUnit) => sent.get(unitId)?.lines.some(({ description }) => labels.has(description));
}

/**
 * Whether an entry has the accounts and amounts of our entry, on the same sides or on the opposite sides; null if
 * neither. Tax amounts are ignored, because an ERP may calculate them again.
 */
function directionOf(entry: ErpEntry, { lines }: FoundEntry): 'same' | 'reversed' | null {
  const held = lines.map(({ account, amount }) => placeOf(account, amount));
  const sent = entry.lines.filter(({ vat }) => vat?.part !== 'tax');
  if (
    isPartOf(
      sent.map((line) => placeOf(line.account, signed(line))),
      held,
    )
  )
    return 'same';
  return isPartOf(
    sent.map((line) => placeOf(line.account, signed(line).negated())),
    held,
  )
    ? 'reversed'
    : null;
}

const placeOf = (account: string, amount: Money) => `${account} ${amount.toFixed()}`;

function isPartOf(part: readonly string[], whole: readonly string[]): boolean {
  const left = [...whole];
  return part.every((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function hasBases(entry: ErpEntry, found: FoundEntry, isReversal: boolean): boolean {
  const bases = new Map<string, Money>();
  const add = (code: string, amount: Money) => bases.set(code, (bases.get(code) ?? zero).plus(amount));
  for (const line of entry.lines) {
    if (line.vat?.part !== 'base') continue;
    add(line.vat.code, isReversal ? signed(line) : signed(line).negated());
  }
  for (const { vat } of found.lines) for (const { code, part, amount } of vat) if (part === 'base') add(code, amount);
  return [...bases.values()].every((left) => left.isZero());
}

function signed({ side, amount }: ErpEntry['lines'][number]): Money {
  return side === 'debit' ? amount : amount.negated();
}
/** E7's message for a copy: both numbers, and what the accountant has to do. */
export function copyText({ of, isReversal, isBaseWrong }: Copy): string {
  return erpBookFindings.copy({
    isReversal: isReversal ? 1 : 0,
    countsInWrongDirection: isBaseWrong ? 1 : 0,
    number: of.erpNumber ?? erpBookFindings.withoutNumber,
    unitId: of.unitId,
  });
}
