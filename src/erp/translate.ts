import { type LedgerEntry, type Line, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import type { GeneralLedgerUnit } from '../ledger/general-ledger.ts';
import { type SummaryLine, summaryDescription } from '../ledger/summaries/summary.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import type { CalendarDate, InstallationId, LineRole } from '../terms.ts';
import type { ErpProblemCode } from '../texts/erp-problems.ts';
import type { Capabilities } from './capabilities.ts';
import { entryKey } from './entry-key.ts';
import type { ErpEntry, ErpLine, ErpParty } from './erp-entry.ts';
import { erpText } from './erp-text.ts';
import type { ErpProblem } from './port.ts';
import { dimensionValueOf, journalOf, noVatCode, partyAccounts, partyRoles, vatCodeOf } from './words.ts';

export interface TranslationContext {
  databaseId: string;
  mapping: Mapping;
  capabilities: Capabilities;
}

/** Roles whose lines are profit or loss: cost centres and the like are theirs, not those of what somebody owes. */
const resultRoles: readonly LineRole[] = ['revenue', 'rounding'];
/** Roles that the mapping can give a party of its own. */
const counterpartyRoles: readonly LineRole[] = ['insurance_receivable', 'financing_receivable'];

/**
 * A unit of the general ledger in the words of the ERP that it is delivered to; or everything that is in the way of that, at once.
 * Accounts, sides and amounts are the unit's own, line by line. Every revenue line of a VAT group is a base of its tax code and
 * every VAT line a tax, so that each base and each tax is told once.
 */
export function translate(
  unit: GeneralLedgerUnit,
  { databaseId, mapping, capabilities }: TranslationContext,
): { entry: ErpEntry } | { problems: ErpProblem[] } {
  const { posting } = unit;
  const problems = new Problems();
  const journal = journalOf(mapping, unit.kind === 'entry' ? unit.posting.document.kind : unit.kind);
  // A file has no journals that would have to exist.
  if (journal === null && capabilities.kind === 'api') {
    const kind = unit.kind === 'entry' ? unit.posting.document.kind : unit.kind;
    problems.add('journal_unmapped', `the mapping has no erp.journals.${kind} and no erp.journals."*"`);
  }
  const description = unit.kind === 'entry' ? unit.posting.description : summaryDescription(unit.posting);
  const context: LineContext = {
    installation: posting.installation,
    mapping,
    capabilities,
    problems,
    description,
    withParty: accountsWithParty(unit, mapping, capabilities),
    departmentId: unit.kind === 'entry' ? null : unit.posting.departmentId,
    taxOnlyBases: basesOnVatLinesAlone(posting.lines),
    day: unit.kind === 'entry' ? unit.posting.documentDate : posting.date,
  };
  const lines =
    unit.kind === 'entry'
      ? unit.posting.lines.map((line) => lineOf(line, documentPart(line, context), context))
      : unit.posting.lines.map((line) => lineOf(line, summaryPart(line, context), context));

  const { max_lines: mostLines } = capabilities.write;
  if (lines.length > mostLines) {
    problems.add('erp_too_large', `it has ${lines.length} lines; the ERP takes ${mostLines}`);
  }
  const parties = new Set(lines.flatMap(({ party }) => party?.code ?? []));
  if (capabilities.lines.party === 'per_entry' && parties.size > 1) {
    problems.add(
      'erp_party_refused',
      `it names the parties ${[...parties].map(shown).join(' and ')}; the ERP takes one`,
    );
  }
  if (problems.found.length > 0) return { problems: problems.found };
  const number = unit.kind === 'entry' ? numberOf(unit.posting.lines) : null;
  return {
    entry: {
      key: entryKey(databaseId, posting.id),
      unitId: posting.id,
      installation: posting.installation,
      date: posting.date,
      journal: journal ?? '',
      description: erpText(description, 'description', capabilities),
      reference: number === null ? null : erpText(number, 'reference', capabilities),
      reverses: unit.kind === 'entry' ? unit.posting.reverses : null,
      ...(unit.kind === 'entry' ? { isRefund: isRefund(unit.posting) } : {}),
      lines,
    },
  };
}

/** Id of the open item of an invoice: the same for the lines that open its receivable and those that settle it. */
export function openItemId(installation: InstallationId, invoiceId: number): string {
  return `${installation}/invoice/${invoiceId}`;
}

interface LineContext {
  installation: InstallationId;
  mapping: Mapping;
  capabilities: Capabilities;
  problems: Problems;
  /** Of the entry. */
  description: string;
  withParty: ReadonlySet<string>;
  /** Of the summary. */
  departmentId: number | null;
  taxOnlyBases: ReadonlyMap<Line | SummaryLine, Money>;
  /** The business date, which decides about validity; of a summary, whose documents have several, its own. */
  day: CalendarDate;
}

/** What only one kind of line has. */
type LinePart = Pick<ErpLine, 'party' | 'openItem' | 'dueDate' | 'description'> & { departmentId: number | null };

function documentPart(line: Line, context: LineContext): LinePart {
  const { role, invoiceId } = line;
  const opensItem = role === 'receivable' && invoiceId !== null;
  return {
    party: partyOf(line, context),
    openItem: opensItem ? openItemId(context.installation, invoiceId) : null,
    dueDate: opensItem || role === 'opening_receivable' ? line.dueDate : null,
    description: [context.description, ...(role === 'revenue' ? buyerText(line, line.party) : [])].join(' '),
    departmentId: line.departmentId,
  };
}

function summaryPart(line: SummaryLine, context: LineContext): LinePart {
  return {
    party: partyOf({ ...line, party: null }, context),
    openItem: null,
    dueDate: null,
    description: [context.description, ...buyerText(line, line.buyer)].join(' '),
    departmentId: context.departmentId,
  };
}

/** Zero-rated sales are declared per buyer. */
function buyerText({ vat }: Pick<Line, 'vat'>, buyer: { vatNumber: string | null } | null): string[] {
  const isZeroRated = vat !== null && (vat.rate ?? zero).isZero();
  return isZeroRated && buyer?.vatNumber ? [`(${buyer.vatNumber})`] : [];
}

function lineOf(line: Line | SummaryLine, part: LinePart, context: LineContext): ErpLine {
  const { capabilities, problems } = context;
  const { departmentId, description, ...rest } = part;
  if (line.amount.decimalPlaces() > capabilities.lines.decimals) {
    const amount = line.amount.toFixed();
    problems.add('erp_refused', `its amount ${amount} has more than ${capabilities.lines.decimals} decimals`);
  }
  return {
    account: line.account,
    role: line.role,
    side: line.side,
    amount: line.amount,
    ...rest,
    description: erpText(description, 'line_description', capabilities),
    vat: vatOf(line, context),
    dimensions: dimensionsOf(line, departmentId, context),
  };
}

function vatOf(line: Line | SummaryLine, { mapping, problems, taxOnlyBases, day }: LineContext): ErpLine['vat'] {
  if (line.vat === null || (line.role !== 'revenue' && line.role !== 'vat')) return null;
  const { group, rate } = line.vat;
  const code = vatCodeOf(mapping, group, rate, day);
  if (code === null) {
    const at = rate === null ? 'without rate' : `at ${rate.toFixed()} %`;
    const called = group === null ? `rows ${at} that name no VAT group` : `VAT group ${shown(group)} ${at}`;
    problems.add('vat_code_unmapped', `the mapping has no erp.vat_codes for ${called}`);
    return null;
  }
  if (code === noVatCode) return null;
  if (line.role === 'revenue') return { code, part: 'base', base: null, rate };
  return { code, part: 'tax', base: taxOnlyBases.get(line) ?? null, rate };
}

/**
 * What the VAT lines of a group say of its base beyond its revenue lines, in the VAT line's direction. Rows of a group whose nets
 * cancel out have no revenue lines, and a base of zero; for what posting makes, nothing is left over. An entry of the past in
 * which it is otherwise keeps its base.
 */
function basesOnVatLinesAlone(lines: readonly (Line | SummaryLine)[]): Map<Line | SummaryLine, Money> {
  const alone = new Map<Line | SummaryLine, Money>();
  const groups = Map.groupBy(
    lines.filter(({ vat }) => vat !== null),
    ({ vat }) => JSON.stringify([vat?.group ?? null, vat?.rate?.toFixed() ?? null]),
  );
  for (const group of groups.values()) {
    const vatLines = group.filter(({ role, vat }) => role === 'vat' && vat?.base != null);
    const [first] = vatLines;
    if (first === undefined) continue;
    // Revenue lines with a base of their own are those of entries without a VAT line of the group, in a summary.
    const told = group.filter(({ role, vat }) => role === 'revenue' && vat?.base == null);
    let left = zero;
    for (const line of vatLines) left = left.plus(signed({ side: line.side, amount: line.vat?.base ?? zero }));
    for (const line of told) left = left.minus(signed(line));
    if (!left.isZero()) alone.set(first, first.side === 'debit' ? left : left.negated());
  }
  return alone;
}

function dimensionsOf(
  line: Line | SummaryLine,
  departmentId: number | null,
  { mapping, problems }: LineContext,
): Record<string, string> {
  if (!resultRoles.includes(line.role)) return {};
  const ours: Record<MappedDimension, string | null> = {
    department: departmentId === null ? null : String(departmentId),
    dimension_1: line.dimensions[0],
    dimension_2: line.dimensions[1],
    dimension_3: line.dimensions[2],
    internal_account: line.internal.account,
    internal_dimension_1: line.internal.dimension1,
    internal_dimension_2: line.internal.dimension2,
  };
  const theirs: [string, string][] = [];
  for (const [name, dimension] of Object.entries(mapping.erp.dimensions)) {
    const value = ours[name as MappedDimension]?.trim() ?? '';
    const named = dimensionValueOf(mapping, name as MappedDimension, value);
    if (named === null && value === '') continue;
    if (named !== null) theirs.push([dimension.name, named]);
    else problems.add('dimension_unmapped', `the mapping has no erp.dimensions.${name}.values for ${shown(value)}`);
  }
  return Object.fromEntries(theirs);
}

function accountsWithParty(unit: GeneralLedgerUnit, mapping: Mapping, { lines }: Capabilities): Set<string> {
  if (lines.party === 'none') return new Set();
  const accounts = partyAccounts(mapping);
  // An entry of an earlier mapping may stand on other accounts.
  for (const { role, account } of unit.posting.lines) if (partyRoles.includes(role)) accounts.add(account);
  return accounts;
}

function partyOf(line: Pick<Line, 'account' | 'role' | 'party'>, context: LineContext): ErpParty | null {
  const { mapping, withParty, installation, capabilities, problems } = context;
  if (!withParty.has(line.account)) return null;
  const { party } = line;
  const clientId = party === null ? null : (/^client:(\d+)$/.exec(party.code)?.[1] ?? null);
  const counterparty = counterpartyOf(line, clientId, mapping);
  if (counterparty !== null) return named(counterparty);
  if (clientId !== null && party !== null && mapping.erp.parties === 'per_client') {
    const text = (value: string | null) => (value === null ? null : erpText(value, 'party_name', capabilities) || null);
    return {
      code: `${installation}/client/${clientId}`,
      isOurs: true,
      name: text(party.name),
      vatNumber: text(party.vatNumber),
      countryCode: text(party.countryCode),
    };
  }
  const collective = mapping.erp.collective_party;
  if (collective) return named(collective);
  // In a file, no party has to exist: a line goes without.
  if (capabilities.kind === 'file') return null;
  problems.add('party_unmapped', `a line on account ${shown(line.account)} needs one: erp.collective_party is not set`);
  return null;
}

/** The mapping's party of insurance and financing, as the entry names it; a summary names none. */
function counterpartyOf(
  { role, party }: Pick<Line, 'role' | 'party'>,
  clientId: string | null,
  { counterparties, cash_customer: cashCustomer }: Mapping,
): string | null {
  if (!counterpartyRoles.includes(role) || clientId !== null) return null;
  if (party !== null) return party.code === cashCustomer ? null : party.code;
  return (
    (role === 'insurance_receivable' ? counterparties.insurance_receivable : counterparties.financing_receivable) ??
    null
  );
}

function named(code: string): ErpParty {
  return { code, isOurs: false, name: null, vatNumber: null, countryCode: null };
}

/** By what is left of its revenue and VAT; a reversal has its original's lines, each on the other side. */
function isRefund({ lines, reverses }: Pick<LedgerEntry, 'lines' | 'reverses'>): boolean {
  let net = zero;
  for (const line of lines) if (line.role === 'revenue' || line.role === 'vat') net = net.plus(signed(line));
  return reverses === null ? net.isPositive() && !net.isZero() : net.isNegative() && !net.isZero();
}

function numberOf(lines: readonly Line[]): string | null {
  return lines.find(({ documentNumber }) => documentNumber !== null)?.documentNumber ?? null;
}

function shown(text: string): string {
  return visible(clip(text, 100));
}

/** Each thing that is missing once, however many lines need it. */
class Problems {
  readonly found: ErpProblem[] = [];

  add(code: ErpProblemCode, message: string): void {
    if (this.found.some((known) => known.code === code && known.message === message)) return;
    this.found.push({ code, message });
  }
}
