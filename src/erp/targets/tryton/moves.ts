import { type Money, zero } from '../../../domain/money.ts';
import { clip, visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import type { ResolvedEntry, ResolvedLine } from '../api/erp-api.ts';
import { asId, asText, wholeNumber } from '../api/form.ts';
import { keyedText, keyIn, longestText, withoutKey } from '../api/keyed-text.ts';
import type { TrytonLine, TrytonRecords } from './names.ts';
import { asDate, asDateOrNull, asDecimal, asTextOrNull, related, relatedList, toDate, toDecimal } from './wire.ts';

const moveModel = 'account.move';

/** The field values of a new move: a draft with its lines, tax lines and analytic lines. */
export function toMove(
  { entry, journal, lines }: ResolvedEntry<TrytonRecords>,
  { companyId, periodId }: { companyId: number; periodId: number },
): JsonObject {
  const date = toDate(entry.date);
  return {
    company: companyId,
    period: periodId,
    journal: journal.id,
    date,
    description: keyedText(entry),
    ...(entry.originId === undefined ? {} : { origin: `${moveModel},${wholeNumber(entry.originId)}` }),
    lines: [['create', entry.lines.map((line, index) => toLine(line, lines[index], date))]],
  };
}

function toLine(line: ErpLine, resolved: ResolvedLine<TrytonRecords> | undefined, date: JsonValue): JsonObject {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const isDebit = line.side === 'debit';
  const sides = { debit: toDecimal(isDebit ? line.amount : zero), credit: toDecimal(isDebit ? zero : line.amount) };
  const analytic = resolved.dimensions.map(({ id }) => ({ account: id, ...sides, date }));
  const taxes = resolved.tax === null ? [] : taxLinesOf(line, resolved.tax.id);
  return {
    account: resolved.account.id,
    ...sides,
    description: clip(visible(line.description), longestText),
    ...(resolved.party === null ? {} : { party: resolved.party.id }),
    ...(isOfParties(resolved.account) && line.dueDate !== null ? { maturity_date: toDate(line.dueDate) } : {}),
    ...(taxes.length === 0 ? {} : { tax_lines: [['create', taxes]] }),
    ...(analytic.length === 0 ? {} : { analytic_lines: [['create', analytic]] }),
  };
}

/** The tax lines of a line. Tryton counts sales as positive, so a credit becomes a positive amount. */
function taxLinesOf({ vat, amount, side }: ErpLine, taxId: number): JsonObject[] {
  if (vat === null) return [];
  const signed = (value: Money) => toDecimal(side === 'credit' ? value : value.negated());
  return [
    { type: vat.part, tax: taxId, amount: signed(amount) },
    ...(vat.part === 'tax' && vat.base !== null ? [{ type: 'base', tax: taxId, amount: signed(vat.base) }] : []),
  ];
}

/**
 * The fields that are read of moves and their parts. Each model is read by a separate request: Tryton reads nested
 * fields record by record, which takes several times as long.
 */
export const readFields = {
  move: ['number', 'state', 'date', 'description', 'journal.code', 'origin'],
  line: [
    ...['move', 'debit', 'credit', 'account.code', 'reconciliation'],
    ...['party.code', 'party.name', 'party.identifiers.code', 'description', 'maturity_date'],
    ...['account.type.receivable', 'account.type.payable'],
  ],
  taxLine: ['move_line', 'type', 'amount', 'tax.name'],
  analyticLine: ['move_line', 'debit', 'credit', 'account.code', 'account.root.name'],
};

/** The records that belong to moves, as Tryton answered them. */
export interface MoveParts {
  lines: JsonObject[];
  taxLines: JsonObject[];
  analyticLines: JsonObject[];
}

/** Combines moves and their parts into entries. Throws FormError. */
export function foundEntries(moves: readonly JsonObject[], parts: MoveParts): FoundEntry[] {
  const linesOf = Map.groupBy(parts.lines, ({ move }) => asId(move ?? null));
  const taxLinesOf = Map.groupBy(parts.taxLines, ({ move_line: line }) => asId(line ?? null));
  const analyticLinesOf = Map.groupBy(parts.analyticLines, ({ move_line: line }) => asId(line ?? null));
  return moves.map((move) => {
    const lines = (linesOf.get(asId(move.id)) ?? []).map((line) => {
      const id = asId(line.id);
      return foundLine(line, taxLinesOf.get(id) ?? [], analyticLinesOf.get(id) ?? []);
    });
    return foundEntry(move, lines.toSorted(byId));
  });
}

function foundEntry(record: JsonObject, lines: FoundLine[]): FoundEntry {
  const description = asTextOrNull(record.description ?? null) ?? '';
  const key = keyIn(description);
  return {
    id: String(asId(record.id)),
    key,
    number: asTextOrNull(record.number ?? null),
    state: record.state === 'posted' ? 'posted' : 'draft',
    date: asDate(record.date ?? null),
    journal: codeOf(related(record, 'journal')),
    description: withoutKey(description, key),
    ...originIn(asTextOrNull(record.origin ?? null)),
    lines,
  };
}

/** The id in an origin such as `account.move,12`. Origins of other models are left out. */
function originIn(origin: string | null): Pick<FoundEntry, 'originId'> {
  const [model, originId = ''] = origin?.split(',') ?? [];
  return model === moveModel && /^\d+$/.test(originId) ? { originId } : {};
}

function byId(one: FoundLine, other: FoundLine): number {
  return wholeNumber(one.id ?? '0') - wholeNumber(other.id ?? '0');
}

function foundLine(line: JsonObject, taxLines: JsonObject[], analyticLines: JsonObject[]): FoundLine {
  const amount = signedAmount(line);
  const reconciliation = line.reconciliation ?? null;
  return {
    id: String(asId(line.id)),
    account: codeOf(related(line, 'account')),
    amount,
    party: partyIn(related(line, 'party')),
    vat: taxLines.map((tax) => ({
      code: asTextOrNull(related(tax, 'tax')?.name ?? null) ?? '',
      part: tax.type === 'base' ? 'base' : 'tax',
      amount: asDecimal(tax.amount ?? null).negated(),
    })),
    dimensions: dimensionsIn(analyticLines, amount),
    matched: reconciliation === null ? null : String(asId(reconciliation)),
    label: asTextOrNull(line.description ?? null) ?? '',
    ...(takesDueDate(related(line, 'account')) ? { dueDate: asDateOrNull(line.maturity_date ?? null) } : {}),
  };
}

function takesDueDate(account: JsonObject | null): boolean {
  const type = account === null ? null : related(account, 'type');
  return type?.receivable === true || type?.payable === true;
}

/** Tryton shows due dates only on receivable and payable accounts. */
function isOfParties({ type }: TrytonRecords['account']): boolean {
  return type?.receivable === true || type?.payable === true;
}

function signedAmount(line: JsonObject): Money {
  return asDecimal(line.debit ?? null).minus(asDecimal(line.credit ?? null));
}

function codeOf(record: JsonObject | null): string {
  return asTextOrNull(record?.code ?? null) ?? '';
}

/** The identifier of a client. */
const ourIdentifier = /^\d+\/client\/\d+$/;

function partyIn(party: JsonObject | null): string | null {
  if (party === null) return null;
  const identifiers = relatedList(party, 'identifiers').map(({ code }) => asTextOrNull(code ?? null) ?? '');
  const ours = identifiers.find((identifier) => ourIdentifier.test(identifier));
  return ours ?? asTextOrNull(party.code ?? null) ?? `[${asTextOrNull(party.name ?? null) ?? asId(party.id)}]`;
}

/**
 * The analytic accounts of a line, by the name of their root. If an account does not get the whole line, its amount is
 * added.
 */
function dimensionsIn(lines: JsonObject[], amount: Money): Record<string, string> {
  const byRoot = new Map<string, { code: string; amount: Money }[]>();
  for (const line of lines) {
    const account = related(line, 'account');
    const root = asText((account === null ? null : related(account, 'root'))?.name ?? '');
    const part = { code: codeOf(account), amount: signedAmount(line) };
    byRoot.set(root, [...(byRoot.get(root) ?? []), part]);
  }
  return Object.fromEntries([...byRoot].map(([root, parts]) => [root, dimensionOf(parts, amount)]));
}

function dimensionOf(parts: { code: string; amount: Money }[], amount: Money): string {
  const [only] = parts;
  if (parts.length === 1 && only?.amount.equals(amount)) return only.code;
  return parts
    .map((part) => `${part.code} ${part.amount.toFixed()}`)
    .toSorted()
    .join(', ');
}

/** Converts a line of an answer for matching. Throws FormError if a field is malformed. */
export function lineState(line: JsonObject): TrytonLine {
  const move = related(line, 'move');
  const matched = line.reconciliation ?? null;
  return {
    id: String(asId(line.id)),
    matched: matched === null ? null : String(asId(matched)),
    // Tryton only matches whole lines.
    isTouched: false,
    amount: signedAmount(line),
    date: asDate(move?.date ?? null),
    isPosted: move?.state === 'posted',
  };
}
