import { type Money, zero } from '../../../domain/money.ts';
import { clip, visible } from '../../../domain/text.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '../../../records/json.ts';
import type { ErpEntry, ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import type { LineState, ResolvedEntry } from '../api/erp-api.ts';
import { asId, asText, wholeNumber } from '../api/form.ts';
import { objectIn } from '../api/http.ts';
import { keyedText, keyIn, longestText, withoutKey } from '../api/keyed-text.ts';
import type { Features } from './calls.ts';
import { keyInExternalId, lineIdOf, moveIdOf } from './external-ids.ts';
import type { OdooRecords } from './names.ts';
import type { OdooTax, TaxBook, TaxSide } from './taxes.ts';
import { asAmount, asDate, asDateOrNull, asFlag, asIds, asReference, asTextOrNull } from './wire.ts';

/** The columns of moves and lines in Odoo's import. The first row of a move contains its own fields. */
const moveColumns = ['id', 'move_type', 'journal_id/.id', 'date', 'ref'];
const lineColumns = [
  ...['id', 'account_id/.id', 'name', 'debit', 'credit', 'partner_id/.id', 'date_maturity'],
  ...['tax_ids/.id', 'tax_tag_ids/.id', 'tax_repartition_line_id/.id', 'tax_base_amount', 'analytic_distribution'],
];

/**
 * Moves as a table for `account.move.load`. Each line has an external id; without it, a repeated import would add the
 * lines again, even to a posted move. Every column is filled, if necessary with an empty text, so that Odoo sets no
 * defaults.
 */
export function toTable(
  moves: readonly ResolvedEntry<OdooRecords>[],
  { hasTagInvert }: Pick<Features, 'hasTagInvert'>,
): { fields: string[]; data: string[][] } {
  const columns = [...lineColumns, ...(hasTagInvert ? ['tax_tag_invert'] : [])];
  return {
    fields: [...moveColumns, ...columns.map((column) => `line_ids/${column}`)],
    data: moves.flatMap((resolved) => {
      const { entry, journal } = resolved;
      const move = [moveIdOf(entry.key), 'entry', String(journal.id), entry.date, keyedText(entry)];
      return linesOf(resolved).map((line, index) => [
        ...(index === 0 ? move : move.map(() => '')),
        ...columns.map((column) => line[column] ?? ''),
      ]);
    }),
  };
}

type LineCells = Record<string, string>;

function linesOf(resolved: ResolvedEntry<OdooRecords>): LineCells[] {
  const { entry } = resolved;
  const bases = basesByCode(entry);
  const lines = entry.lines.map((line, index) => {
    const ids = resolved.lines[index];
    if (ids === undefined) throw new Error('a line was not resolved');
    const isDebit = line.side === 'debit';
    return {
      id: lineIdOf(entry.key, index + 1),
      'account_id/.id': String(ids.account.id),
      name: clip(visible(line.description), longestText),
      debit: (isDebit ? line.amount : zero).toFixed(),
      credit: (isDebit ? zero : line.amount).toFixed(),
      ...(ids.party === null ? {} : { 'partner_id/.id': String(ids.party.id) }),
      ...(line.dueDate === null ? {} : { date_maturity: line.dueDate }),
      ...(ids.dimensions.length === 0
        ? {}
        : { analytic_distribution: distributionOf(ids.dimensions.map(({ id }) => id)) }),
      ...taxCells(entry, line, ids.tax, bases),
    };
  });
  return [...lines, ...baseLines(resolved, bases)];
}

/**
 * Lines of zero for bases that are on no tag and no tax line, such as the base of a sale with a rounded tax of zero.
 * The line names the tax, and `tax_base_amount` has the sign of the base.
 */
function baseLines({ entry, lines }: ResolvedEntry<OdooRecords>, bases: Map<string, Money>): LineCells[] {
  return entry.lines.flatMap((line, index) => {
    const { account, tax = null } = lines[index] ?? {};
    const base = line.vat === null ? undefined : bases.get(line.vat.code);
    if (line.vat === null || account === undefined || tax === null || base === undefined) return [];
    bases.delete(line.vat.code);
    const { side, isInverted } = sideOf(entry, line, tax);
    if (side.baseTags.length > 0 || base.isZero()) return [];
    return {
      id: lineIdOf(entry.key, entry.lines.length + index + 1),
      'account_id/.id': String(account.id),
      name: clip(visible(line.description), longestText),
      ...{ debit: zero.toFixed(), credit: zero.toFixed() },
      'tax_repartition_line_id/.id': String(side.amountLineId ?? ''),
      'tax_tag_ids/.id': side.amountTags.join(','),
      tax_base_amount: base.toFixed(),
      tax_tag_invert: isInverted ? 'True' : 'False',
    };
  });
}

/** Assigns 100 % of the line to one account of each plan. Ids are sorted, so that equal lines have equal texts. */
function distributionOf(ids: readonly number[]): string {
  const key = ids.toSorted((one, other) => one - other).join(',');
  return stringifyJson({ [key]: wholeLine });
}

const wholeLine = 100;
/** Decimals of a percentage in Odoo. */
const percentDecimals = 2;

/** The total base of each tax code, debit positive. */
function basesByCode({ lines }: ErpEntry): Map<string, Money> {
  const bases = new Map<string, Money>();
  const add = (code: string, amount: Money) => bases.set(code, (bases.get(code) ?? zero).plus(amount));
  for (const { vat, side, amount } of lines) {
    const signed = (value: Money) => (side === 'debit' ? value : value.negated());
    if (vat?.part === 'base') add(vat.code, signed(amount));
    if (vat?.part === 'tax' && vat.base !== null) add(vat.code, signed(vat.base));
  }
  return bases;
}

/**
 * The tax columns of a line. A base line gets the tags of its tax but not the tax, from which Odoo would calculate an
 * amount.
 */
function taxCells(entry: ErpEntry, line: ErpLine, tax: OdooTax | null, bases: Map<string, Money>): LineCells {
  const { vat } = line;
  if (vat === null || tax === null) return {};
  const { side, isInverted } = sideOf(entry, line, tax);
  const invert = isInverted ? 'True' : 'False';
  if (vat.part === 'base') {
    return side.baseTags.length === 0 ? {} : { 'tax_tag_ids/.id': side.baseTags.join(','), tax_tag_invert: invert };
  }
  // The first tax line of a code reports the whole base. The base is positive if it has the direction of that line.
  const base = bases.get(vat.code) ?? zero;
  bases.delete(vat.code);
  return {
    'tax_repartition_line_id/.id': String(side.amountLineId ?? ''),
    'tax_tag_ids/.id': side.amountTags.join(','),
    tax_base_amount: (line.side === 'debit' || line.amount.isZero() ? base : base.negated()).toFixed(),
    tax_tag_invert: invert,
  };
}

/**
 * Chooses the tags as Odoo's own invoices and credit notes do: tags of invoices count credits as positive, tags of
 * credit notes count debits.
 */
function sideOf(entry: ErpEntry, line: ErpLine, tax: OdooTax): { side: TaxSide; isInverted: boolean } {
  const isRefund = !tax.isOneSided && (entry.isRefund ?? line.side === 'debit');
  return { side: isRefund ? tax.refund : tax.invoice, isInverted: !isRefund };
}

/** The fields that are read of moves and of lines. */
export const readFields = {
  move: ['name', 'state', 'date', 'ref', 'journal_id', 'reversed_entry_id'],
  line: (features: Pick<Features, 'hasTagInvert'>) => [
    ...['move_id', 'account_id', 'balance', 'partner_id', 'tax_tag_ids', 'tax_line_id', 'tax_base_amount', 'tax_ids'],
    ...['tax_repartition_line_id', 'analytic_distribution', 'full_reconcile_id', 'display_type'],
    ...['name', 'date_maturity'],
    ...(features.hasTagInvert ? ['tax_tag_invert'] : []),
  ],
};

/** The records that the lines of moves refer to, by id. */
export interface NamesById {
  accounts: ReadonlyMap<number, string>;
  journals: ReadonlyMap<number, string>;
  parties: ReadonlyMap<number, readonly string[]>;
  analytic: ReadonlyMap<number, string>;
  taxes: TaxBook | null;
  externalIds: ReadonlyMap<number, string[]>;
}

export interface ReadContext {
  names: NamesById;
  decimals: number;
  features: Pick<Features, 'hasTagInvert'>;
}

/** Types of lines that contain only text, without an account. */
const textLines = ['line_section', 'line_subsection', 'line_note'];

function isAmountLine({ display_type: type }: JsonObject): boolean {
  return typeof type !== 'string' || !textLines.includes(type);
}

/** Combines moves and their lines into entries. Throws FormError. */
export function foundEntries(
  moves: readonly JsonObject[],
  lines: readonly JsonObject[],
  context: ReadContext,
): FoundEntry[] {
  const ofMove = Map.groupBy(lines.filter(isAmountLine), ({ move_id: move }) => asReference(move)?.id ?? 0);
  return moves.map((move) => foundEntry(move, ofMove.get(asId(move.id)) ?? [], context));
}

function foundEntry(move: JsonObject, lines: readonly JsonObject[], context: ReadContext): FoundEntry {
  const id = asId(move.id);
  const reference = asTextOrNull(move.ref) ?? '';
  const { names } = context;
  const key = names.externalIds.get(id)?.flatMap((each) => keyInExternalId(each) ?? [])[0] ?? keyIn(reference);
  return {
    id: String(id),
    key,
    ...numberAndState(move),
    date: asDate(move.date),
    journal: names.journals.get(asReference(move.journal_id)?.id ?? 0) ?? '',
    description: withoutKey(reference, key),
    ...originIn(asReference(move.reversed_entry_id ?? false)),
    lines: lines.map((line) => foundLine(line, context)),
  };
}

/** A draft may already have a number, which can still change; so its number is null here. Throws FormError. */
export function numberAndState(move: JsonObject): Pick<FoundEntry, 'number' | 'state'> {
  const number = asTextOrNull(move.name ?? null);
  const state = asText(move.state);
  if (state === 'posted') return { state, number: number === '/' ? null : number };
  return { state: state === 'cancel' ? 'void' : 'draft', number: null };
}

/** A line as matching reads it. Throws FormError. */
export function lineState(line: JsonObject, decimals: number): LineState {
  const amount = asAmount(line.balance, decimals);
  const matched = asReference(line.full_reconcile_id)?.id ?? null;
  return {
    id: String(asId(line.id)),
    matched: matched === null ? null : String(matched),
    isTouched: matched === null && !asAmount(line.amount_residual, decimals).equals(amount),
    amount,
    isPosted: line.parent_state === 'posted',
  };
}

function foundLine(line: JsonObject, context: ReadContext): FoundLine {
  const { names, decimals } = context;
  const account = asReference(line.account_id)?.id ?? 0;
  const matched = asReference(line.full_reconcile_id)?.id ?? null;
  const amount = asAmount(line.balance, decimals);
  return {
    id: String(asId(line.id)),
    account: names.accounts.get(account) ?? '',
    amount,
    ...partyIn(asReference(line.partner_id)?.id ?? null, names.parties),
    vat: names.taxes === null ? [] : vatOf(line, amount, names.taxes, context),
    dimensions: dimensionsOf(line.analytic_distribution, names.analytic),
    matched: matched === null ? null : String(matched),
    label: asTextOrNull(line.name) ?? '',
    dueDate: asDateOrNull(line.date_maturity ?? null),
  };
}

/** The entry that a reversal made in Odoo names as its origin. */
function originIn(origin: { id: number } | null): Pick<FoundEntry, 'originId'> {
  return origin === null ? {} : { originId: String(origin.id) };
}

function partyIn(id: number | null, parties: NamesById['parties']): Pick<FoundLine, 'party' | 'partyAlike'> {
  if (id === null) return { party: null };
  const [party = `[${id}]`, ...partyAlike] = parties.get(id) ?? [];
  return { party, ...(partyAlike.length > 0 ? { partyAlike } : {}) };
}

/**
 * The VAT of a line, from its tags and its tax. The amount has the sign with which Odoo's tax report counts it: a line
 * whose tags are inverted wrongly gets the opposite sign.
 */
function vatOf(line: JsonObject, amount: Money, taxes: TaxBook, { decimals, features }: ReadContext): FoundLine['vat'] {
  const isInverted = features.hasTagInvert ? asFlag(line.tax_tag_invert) : null;
  const counted = (isRefund: boolean) => (isInverted === null || isInverted === !isRefund ? amount : amount.negated());
  const tags = asIds(line.tax_tag_ids);
  const own = asReference(line.tax_line_id);
  const applied = asIds(line.tax_ids);
  const found: FoundLine['vat'] = [];
  if (own !== null) {
    const tax = taxes.withId(own.id);
    const code = tax?.name ?? `[${own.name}]`;
    const isRefund = tax !== null && asReference(line.tax_repartition_line_id)?.id === tax.refund.amountLineId;
    const hasTags = tax === null || sameIds(tags, isRefund ? tax.refund.amountTags : tax.invoice.amountTags);
    found.push({ code: hasTags ? code : `${code} with other tags`, part: 'tax', amount: counted(isRefund) });
    // A tax without tags reports its base on this line only. With tags, the base lines report it.
    const saysBase = tax !== null && (isRefund ? tax.refund : tax.invoice).baseTags.length === 0;
    const base = asAmount(line.tax_base_amount ?? 0, decimals);
    if (saysBase && !base.isZero())
      found.push({ code, part: 'base', amount: amount.isNegative() ? base.negated() : base });
  } else if (tags.length > 0) {
    const all = taxes.withBaseTags(tags);
    // One tax may use the same tags for invoices as another tax for credit notes. `tax_tag_invert` distinguishes them,
    // if the version has it.
    const directed = all.filter(({ side }) => isInverted === null || isInverted === (side === 'invoice'));
    const fitting = directed.length > 0 ? directed : all;
    const [first] = fitting;
    if (first === undefined) found.push({ code: `tags ${tags.join(', ')}`, part: 'base', amount });
    else {
      const codes = [...new Set(fitting.map(({ tax }) => tax.name))].toSorted();
      const [code = first.tax.name, ...others] = codes;
      found.push({
        code,
        ...(others.length > 0 ? { alike: others } : {}),
        part: 'base',
        amount: counted(first.side === 'refund'),
      });
    }
  }
  // vetledger never sets `tax_ids`. If they are present, a user let Odoo calculate the tax.
  for (const id of applied)
    found.push({ code: `${taxes.withId(id)?.name ?? `[tax ${id}]`} applied`, part: 'base', amount });
  return found;
}

function sameIds(ids: readonly number[], others: readonly number[]): boolean {
  return ids.length === others.length && ids.every((id) => others.includes(id));
}

/**
 * The analytic accounts of a line, by the name of their plan. If an account does not get 100 % of the line, its
 * percentage is added.
 */
function dimensionsOf(distribution: JsonValue, names: ReadonlyMap<number, string>): Record<string, string> {
  const byPlan = new Map<string, string[]>();
  for (const [ids, percentage] of Object.entries(distributionIn(distribution))) {
    for (const id of analyticIdsIn(ids)) {
      const [plan = '', code = ''] = (names.get(id) ?? `\n[${id}]`).split('\n');
      const part = asAmount(percentage, percentDecimals).equals(wholeLine) ? code : `${code} ${String(percentage)} %`;
      byPlan.set(plan, [...(byPlan.get(plan) ?? []), part]);
    }
  }
  return Object.fromEntries([...byPlan].map(([plan, parts]) => [plan, parts.toSorted().join(', ')]));
}

export function analyticIdsIn(ids: string): number[] {
  return ids.split(',').flatMap((id) => (/^\d{1,15}$/.test(id) ? [wholeNumber(id)] : []));
}

/** The distribution as an object; some versions answer it as text. Empty if there is none. */
export function distributionIn(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string' || value === '') return {};
  return objectIn(value) ?? {};
}
