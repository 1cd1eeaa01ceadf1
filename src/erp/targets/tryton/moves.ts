import { type Money, zero } from '../../../domain/money.ts';
import { clip, visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../entry.ts';
import { asId, asText, wholeNumber } from '../form.ts';
import { asDate, asDateOrNull, asDecimal, asTextOrNull, related, relatedList, toDate, toDecimal } from './wire.ts';

/** The ids of everything that an entry names. */
export interface ResolvedEntry {
  companyId: number;
  periodId: number;
  journalId: number;
  /** In the order of the entry's lines. */
  lines: ResolvedLine[];
}

export interface ResolvedLine {
  accountId: number;
  partyId: number | null;
  taxId: number | null;
  analyticIds: number[];
  /** Tryton shows a due date on receivable and payable accounts only. */
  takesDueDate: boolean;
}

const longestText = 200;
const moveModel = 'account.move';

/**
 * The description of a move: a text for people, the id that `vetledger explain` knows, and the key in brackets at its end, by which
 * the move is found again.
 */
export function describedAs({ description, reference, unitId, key }: ErpEntry): string {
  const number = reference !== null && !description.includes(reference) ? `${reference} ` : '';
  return `${clip(visible(`${number}${description}`), longestText)} · ${unitId} [${key}]`;
}

/** The same text without the key, as it is read back. */
export function withoutKey(entry: ErpEntry): string {
  return describedWithoutKey(describedAs(entry), entry.key);
}

function describedWithoutKey(description: string, key: string | null): string {
  return key === null ? description : description.slice(0, description.lastIndexOf(keyText(key))).trim();
}

const keyPattern = /\[([A-Z2-7]{20})\]/g;

/** The key in a description: the last one, since texts before it come from outside. Null without one. */
export function keyIn(description: string): string | null {
  return [...description.matchAll(keyPattern)].at(-1)?.[1] ?? null;
}

/** What the text of a search must contain for a key. */
export function keyText(key: string): string {
  return `[${key}]`;
}

/** The values of a new move: a draft with its lines, tax lines and analytic lines. */
export function toMove(entry: ErpEntry, resolved: ResolvedEntry): JsonObject {
  const date = toDate(entry.date);
  return {
    company: resolved.companyId,
    period: resolved.periodId,
    journal: resolved.journalId,
    date,
    description: describedAs(entry),
    ...(entry.originId === undefined ? {} : { origin: `${moveModel},${wholeNumber(entry.originId)}` }),
    lines: [['create', entry.lines.map((line, index) => toLine(line, resolved.lines[index], date))]],
  };
}

function toLine(line: ErpLine, resolved: ResolvedLine | undefined, date: JsonValue): JsonObject {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const isDebit = line.side === 'debit';
  const sides = { debit: toDecimal(isDebit ? line.amount : zero), credit: toDecimal(isDebit ? zero : line.amount) };
  const analytic = resolved.analyticIds.map((account) => ({ account, ...sides, date }));
  const taxes = resolved.taxId === null ? [] : taxLinesOf(line, resolved.taxId);
  return {
    account: resolved.accountId,
    ...sides,
    description: clip(visible(line.description), longestText),
    ...(resolved.partyId === null ? {} : { party: resolved.partyId }),
    ...(resolved.takesDueDate && line.dueDate !== null ? { maturity_date: toDate(line.dueDate) } : {}),
    ...(taxes.length === 0 ? {} : { tax_lines: [['create', taxes]] }),
    ...(analytic.length === 0 ? {} : { analytic_lines: [['create', analytic]] }),
  };
}

/** Tryton counts sales positive: a credit of revenue or of VAT is a positive amount of its tax line. */
function taxLinesOf({ vat, amount, side }: ErpLine, taxId: number): JsonObject[] {
  if (vat === null) return [];
  const signed = (value: Money) => toDecimal(side === 'credit' ? value : value.negated());
  return [
    { type: vat.part, tax: taxId, amount: signed(amount) },
    ...(vat.part === 'tax' && vat.base !== null ? [{ type: 'base', tax: taxId, amount: signed(vat.base) }] : []),
  ];
}

/**
 * The fields of moves and of what belongs to them. Each model is read by a request of its own: Tryton reads fields of fields record by
 * record, which takes several times as long.
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

/** What belongs to moves, as Tryton answered it. */
export interface MoveParts {
  lines: JsonObject[];
  taxLines: JsonObject[];
  analyticLines: JsonObject[];
}

/** Moves with their lines. Throws FormError. */
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
    description: describedWithoutKey(description, key),
    ...originIn(asTextOrNull(record.origin ?? null)),
    lines,
  };
}

/** Of `account.move,12`; a move may have an origin of another model. */
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

function signedAmount(line: JsonObject): Money {
  return asDecimal(line.debit ?? null).minus(asDecimal(line.credit ?? null));
}

function codeOf(record: JsonObject | null): string {
  return asTextOrNull(record?.code ?? null) ?? '';
}

/** The identifier of a party that we made. */
const ourIdentifier = /^\d+\/client\/\d+$/;

function partyIn(party: JsonObject | null): string | null {
  if (party === null) return null;
  const identifiers = relatedList(party, 'identifiers').map(({ code }) => asTextOrNull(code ?? null) ?? '');
  const ours = identifiers.find((identifier) => ourIdentifier.test(identifier));
  return ours ?? asTextOrNull(party.code ?? null) ?? `[${asTextOrNull(party.name ?? null) ?? asId(party.id)}]`;
}

/** The analytic account by the name of its root; what is not the whole line on one account is told with its amounts. */
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
