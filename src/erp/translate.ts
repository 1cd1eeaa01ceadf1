import { type LedgerEntry, type Line, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import type { GeneralLedgerUnit } from '../ledger/general-ledger.ts';
import { type SummaryLine, summaryDescription } from '../ledger/summaries/summary.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import type { CalendarDate, InstallationId, LineRole } from '../terms.ts';
import type { ErpProblemCode } from '../texts/erp-problems.ts';
import { deliveryFindings } from '../texts/findings/delivery.ts';
import type { Capabilities } from './capabilities.ts';
import { entryKey } from './entry-key.ts';
import type { ErpEntry, ErpLine, ErpParty } from './erp-entry.ts';
import { erpText } from './erp-text.ts';
import {
  dimensionValueOf,
  journalOf,
  noVatCode,
  partyAccounts,
  partyRoles,
  vatCodeOf,
  vatText,
} from './mapped-values.ts';
import type { ErpProblem } from './port.ts';
import { needsSales, sentLines, vatRuleOf, vatWithoutSale } from './sent-lines.ts';
import { lastDocumentDay, paymentTypeText, recordedSummaryText } from './summary-texts.ts';
import { basesOnVatLinesAlone, groupKey, groupsNotDue } from './vat-bases.ts';

export interface TranslationContext {
  databaseId: string;
  mapping: Mapping;
  capabilities: Capabilities;
}

/** Roles of income and expense lines. Only these lines carry dimensions. */
const resultRoles: readonly LineRole[] = ['revenue', 'rounding'];
/** Roles for which the mapping can name a party. */
const counterpartyRoles: readonly LineRole[] = ['insurance_receivable', 'financing_receivable'];

/**
 * Translates a unit of the general ledger into the terms of the ERP, or returns all problems that prevent it. The lines
 * keep their accounts, sides and amounts. Every revenue line of a VAT group is a base of its tax code, and every VAT
 * line is a tax. So each base and each tax is reported once.
 */
export function translate(
  unit: GeneralLedgerUnit,
  { databaseId, mapping, capabilities }: TranslationContext,
): { entry: ErpEntry } | { problems: ErpProblem[] } {
  const { posting } = unit;
  const problems = new Problems();
  const journal = journalOf(mapping, unit.kind === 'entry' ? unit.posting.document.kind : unit.kind);
  // Files need no journals.
  if (journal === null && capabilities.kind === 'api') {
    const kind = unit.kind === 'entry' ? unit.posting.document.kind : unit.kind;
    problems.add('journal_unmapped', deliveryFindings.journalUnmapped({ kind }));
  }
  const description = unit.kind === 'entry' ? unit.posting.description : summaryDescription(unit.posting);
  const narration = unit.kind === 'entry' ? description : recordedSummaryText(unit.posting);
  const context: LineContext = {
    installation: posting.installation,
    mapping,
    capabilities,
    problems,
    description,
    withParty: accountsWithParty(unit, mapping, capabilities),
    departmentId: unit.kind === 'entry' ? null : unit.posting.departmentId,
    taxOnlyBases: basesOnVatLinesAlone(posting.lines),
    notDue: groupsNotDue(posting.lines),
    day: unit.kind === 'entry' ? unit.posting.documentDate : lastDocumentDay(unit.posting),
  };
  const lines =
    unit.kind === 'entry'
      ? unit.posting.lines.map((line) => lineOf(line, documentPart(line, context), context))
      : unit.posting.lines.map((line) => lineOf(line, summaryPart(line, context), context));

  const sent = problems.found.length === 0 ? linesToSend(lines, unit, capabilities, problems) : null;
  const { length: count } = sent ?? lines;
  const { max_lines: mostLines } = capabilities.write;
  if (count > mostLines) {
    problems.add('erp_too_large', deliveryFindings.tooManyLines({ lines: count, most: mostLines }));
  }
  const parties = new Set(lines.flatMap(({ party }) => party?.code ?? []));
  if (capabilities.lines.party === 'per_entry' && parties.size > 1) {
    const named = [...parties].map(shown).join(deliveryFindings.and);
    problems.add('erp_party_refused', deliveryFindings.tooManyParties({ parties: named }));
  }
  if (problems.found.length > 0) return { problems: problems.found };
  const number = unit.kind === 'entry' ? numberOf(unit.posting.lines) : unit.posting.record.voucher;
  return {
    entry: {
      key: entryKey(databaseId, posting.id),
      unitId: posting.id,
      installation: posting.installation,
      date: posting.date,
      journal: journal ?? '',
      description: erpText(narration, 'description', capabilities),
      reference: number === null ? null : erpText(number, 'reference', capabilities),
      reverses: unit.kind === 'entry' ? unit.posting.reverses : null,
      ...(unit.kind === 'entry' ? { isRefund: isRefund(unit.posting) } : {}),
      lines,
      ...(sent === null ? {} : { sentLines: sent }),
    },
  };
}

/** An accountant can still read an entry whose sales are in so many parts. */
const mostParts = 6;

/** The lines to send if the ERP computes VAT. Null if it does not, or if it cannot compute the VAT of the lines. */
function linesToSend(
  lines: readonly ErpLine[],
  unit: GeneralLedgerUnit,
  capabilities: Capabilities,
  problems: Problems,
): ErpLine[] | null {
  const rule = vatRuleOf(capabilities);
  if (rule === null) {
    const problem = needsSales(capabilities) ? vatWithoutSale(lines) : null;
    if (problem !== null) problems.add('erp_vat_not_tellable', problem);
    return null;
  }
  // The cents of a summary add up from its documents, so it may have as many parts as a line for each document.
  const most = (index: number) =>
    unit.kind === 'entry' ? mostParts : Math.max(mostParts, unit.posting.lines[index]?.entryIds.length ?? 0);
  const sent = sentLines(lines, rule, most);
  if ('lines' in sent) return sent.lines;
  problems.add('erp_vat_not_tellable', sent.problem);
  return null;
}

/** Id of the open item of an invoice. The line that opens the receivable and the lines that settle it share this id. */
export function openItemId(installation: InstallationId, invoiceId: number): string {
  return `${installation}/invoice/${invoiceId}`;
}

interface LineContext {
  installation: InstallationId;
  mapping: Mapping;
  capabilities: Capabilities;
  problems: Problems;
  /** The entry's description. */
  description: string;
  withParty: ReadonlySet<string>;
  /** The summary's department; null for an entry. */
  departmentId: number | null;
  taxOnlyBases: ReadonlyMap<Line | SummaryLine, Money>;
  /** VAT groups whose sales are in the VAT return of their payments. */
  notDue: ReadonlySet<string>;
  /**
   * The date by which the mapping's VAT groups are looked up: the document's business date, or the date of the summary.
   */
  day: CalendarDate;
}

/** The fields that entries and summaries fill in differently. */
type LinePart = Pick<ErpLine, 'party' | 'openItem' | 'dueDate' | 'description'> & { departmentId: number | null };

function documentPart(line: Line, context: LineContext): LinePart {
  const { role, invoiceId } = line;
  const opensItem = role === 'receivable' && invoiceId !== null;
  return {
    party: partyOf(line, context),
    openItem: opensItem ? openItemId(context.installation, invoiceId) : null,
    dueDate: opensItem || role === 'opening_receivable' ? line.dueDate : null,
    description: [
      context.description,
      ...partyText(line, context),
      ...(role === 'revenue' ? buyerText(line, line.party) : []),
    ].join(' '),
    departmentId: line.departmentId,
  };
}

function summaryPart(line: SummaryLine, context: LineContext): LinePart {
  return {
    party: partyOf({ ...line, party: null }, context),
    openItem: null,
    dueDate: null,
    description: [
      ...[context.description, ...partyText({ ...line, party: null }, context)],
      ...[...paymentTypeText(line), ...buyerText(line, line.buyer)],
    ].join(' '),
    departmentId: context.departmentId,
  };
}

/** A VAT return lists zero-rated sales by buyer, so the text names the buyer's VAT number. */
function buyerText({ vat }: Pick<Line, 'vat'>, buyer: { vatNumber: string | null } | null): string[] {
  const isZeroRated = vat !== null && (vat.rate ?? zero).isZero();
  return isZeroRated && buyer?.vatNumber ? [`(${buyer.vatNumber})`] : [];
}

function lineOf(line: Line | SummaryLine, part: LinePart, context: LineContext): ErpLine {
  const { capabilities, problems } = context;
  const { departmentId, description, ...rest } = part;
  if (line.amount.decimalPlaces() > capabilities.lines.decimals) {
    const [amount, most] = [line.amount.toFixed(), capabilities.lines.decimals];
    problems.add('erp_refused', deliveryFindings.tooManyDecimals({ amount, most }));
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

function vatOf(
  line: Line | SummaryLine,
  { mapping, problems, taxOnlyBases, notDue, day }: LineContext,
): ErpLine['vat'] {
  if (line.vat === null || (line.role !== 'revenue' && line.role !== 'vat')) return null;
  if (line.role === 'revenue' && notDue.has(groupKey(line.vat))) return null;
  const { group, rate } = line.vat;
  const code = vatCodeOf(mapping, group, rate, day);
  if (code === null) {
    problems.add('vat_code_unmapped', deliveryFindings.vatCodeUnmapped({ vat: vatText(group, rate) }));
    return null;
  }
  if (code === noVatCode) return null;
  if (line.role === 'revenue') return { code, part: 'base', base: null, rate };
  return { code, part: 'tax', base: taxOnlyBases.get(line) ?? null, rate };
}

function dimensionsOf(
  line: Line | SummaryLine,
  departmentId: number | null,
  { mapping, problems, capabilities }: LineContext,
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
    else
      problems.add('dimension_unmapped', deliveryFindings.dimensionUnmapped({ dimension: name, value: shown(value) }));
  }
  const { size: n } = new Set(theirs.map(([name]) => name));
  const most = capabilities.lines.max_dimensions;
  if (most !== null && n > most) problems.add('erp_refused', deliveryFindings.tooManyDimensions({ n, most }));
  return Object.fromEntries(theirs);
}

function accountsWithParty(unit: GeneralLedgerUnit, mapping: Mapping, { lines }: Capabilities): Set<string> {
  if (lines.party === 'none') return new Set();
  const accounts = partyAccounts(mapping);
  // An entry that was posted with an earlier mapping may use other accounts.
  for (const { role, account } of unit.posting.lines) if (partyRoles.includes(role)) accounts.add(account);
  return accounts;
}

function partyOf(line: Pick<Line, 'account' | 'role' | 'party'>, context: LineContext): ErpParty | null {
  const { mapping, withParty, installation, capabilities, problems } = context;
  if (!withParty.has(line.account)) return null;
  const { party } = line;
  const clientId = clientIdOf(line);
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
  // In a file, a line may have no party.
  if (capabilities.kind === 'file') return null;
  problems.add('party_unmapped', deliveryFindings.partyUnmapped({ account: shown(line.account) }));
  return null;
}

/** In an ERP without parties, the text of a line names its insurance or financing company, or its client. */
function partyText(line: Pick<Line, 'role' | 'party'>, { capabilities, mapping }: LineContext): string[] {
  if (capabilities.lines.party !== 'none' || !partyRoles.includes(line.role)) return [];
  const clientId = clientIdOf(line);
  const text =
    counterpartyOf(line, clientId, mapping) ??
    (clientId !== null && mapping.erp.parties === 'per_client' ? line.party?.name : null);
  return text ? [text] : [];
}

function clientIdOf({ party }: Pick<Line, 'party'>): string | null {
  return party === null ? null : (/^client:(\d+)$/.exec(party.code)?.[1] ?? null);
}

/**
 * Code of the insurance company or financing company of a line: from the entry, or from the mapping for a summary. Null
 * for any other line.
 */
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

/**
 * True if revenue and VAT are negative in sum. A reversal has its original's lines on the other side, so its sign is
 * turned.
 */
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

/** Collects problems; each occurs once, even if several lines have it. */
class Problems {
  readonly found: ErpProblem[] = [];

  add(code: ErpProblemCode, message: string): void {
    if (this.found.some((known) => known.code === code && known.message === message)) return;
    this.found.push({ code, message });
  }
}
