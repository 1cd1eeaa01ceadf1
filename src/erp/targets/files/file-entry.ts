import { type Line, signed } from '../../../domain/entry.ts';
import type { Money } from '../../../domain/money.ts';
import type { GeneralLedgerUnit } from '../../../ledger/general-ledger.ts';
import { type EntryRecord, mappingVersionText } from '../../../ledger/journal/entry-records.ts';
import type { SummaryLine } from '../../../ledger/summaries/summary.ts';
import type { CalendarDate, LineRole, Side } from '../../../terms.ts';
import type { ErpEntry, ErpLine } from '../../erp-entry.ts';

/** An entry in the ERP's terms, with further facts from the books that files can contain. */
export interface FileEntry extends Omit<ErpEntry, 'lines'> {
  /** The document's business date; null for a daily summary. */
  documentDate: CalendarDate | null;
  /** The original VAT period of all lines, and whether it was closed before. */
  vatPeriod: string;
  isLate: boolean;
  /** The facts of the entry. Null for the undo of a unit. */
  record: FileRecord | null;
  lines: FileLine[];
}

/** How a unit was recorded in the books. */
export interface FileRecord {
  voucher: string;
  /** The mapping of the entry, or the mappings of a summary's entries; empty if there was none. */
  mapping: string;
  recordedAt: Date;
}

export interface FileLine {
  account: string;
  role: LineRole;
  side: Side;
  /** Positive. */
  amount: Money;
  description: string;
  rule: string;
  paymentType: number | null;
  /** The entries of a summary's line; empty for the line of an entry. */
  documents: readonly string[];
  party: FileParty;
  departmentId: number | null;
  /** The ERP's name of each dimension → the ERP's value. */
  dimensions: Record<string, string>;
  vatCode: string | null;
  vatGroup: string | null;
  vatRate: Money | null;
  /** Debit positive, so that the bases of all lines add up. */
  vatBase: Money | null;
  documentNumber: string | null;
  dueDate: CalendarDate | null;
  bankReference: string | null;
}

export interface FileParty {
  code: string | null;
  name: string | null;
  vatNumber: string | null;
  countryCode: string | null;
}

/** Combines a unit with its translation. Both have the same lines in the same order. `record`: the record of an entry. */
export function fileEntry(
  unit: GeneralLedgerUnit,
  entry: ErpEntry,
  { collectiveParty, record }: { collectiveParty: string | null; record: EntryRecord | null },
): FileEntry {
  const { lines, ...translated } = entry;
  const { vatPeriod, isLate } = unit.posting;
  const head = { ...translated, vatPeriod, isLate, record: recordOf(unit, record) };
  if (lines.length !== unit.posting.lines.length) throw new Error(`${entry.unitId} was translated to other lines`);
  const asCode = (code: string) => code.replace(/^client:(?=\d+$)/, `${entry.installation}/client/`);
  const own = (theirs: ErpLine, party: Line['party']): FileParty => {
    const { vatNumber = null, countryCode = null } = party ?? {};
    if (theirs.party !== null) {
      const { code, name } = theirs.party;
      return {
        code,
        name,
        vatNumber: theirs.party.vatNumber ?? vatNumber,
        countryCode: theirs.party.countryCode ?? countryCode,
      };
    }
    // With a collective party, no client is named.
    if (party === null || collectiveParty !== null) return { code: null, name: null, vatNumber, countryCode };
    return { ...party, code: asCode(party.code) };
  };
  if (unit.kind === 'entry') {
    const { posting } = unit;
    return {
      ...head,
      documentDate: posting.documentDate,
      lines: posting.lines.map((line, index) => {
        const theirs = lineAt(lines, index);
        const { departmentId, documentNumber, dueDate, bankReference } = line;
        const facts = { departmentId, documentNumber, dueDate, bankReference, party: own(theirs, line.party) };
        return { ...common(theirs, line), ...facts, documents: [] };
      }),
    };
  }
  const { posting } = unit;
  return {
    ...head,
    documentDate: null,
    lines: posting.lines.map((line, index) => {
      const theirs = lineAt(lines, index);
      const buyer = line.buyer === null ? null : { code: '', name: null, ...line.buyer };
      const party = { ...own(theirs, buyer), ...(theirs.party === null ? { code: null } : {}) };
      const nothing = { documentNumber: null, dueDate: null, bankReference: null };
      const facts = { departmentId: posting.departmentId, party, documents: line.entryIds };
      return { ...common(theirs, line), ...nothing, ...facts };
    }),
  };
}

function recordOf(unit: GeneralLedgerUnit, record: EntryRecord | null): FileRecord | null {
  if (unit.kind === 'daily_summary') {
    const { voucher, recordedAt, mappings } = unit.posting.record;
    return { voucher, recordedAt, mapping: mappings.map(mappingVersionText).join('; ') };
  }
  if (record === null) return null;
  const { voucher, recordedAt, mapping } = record;
  return { voucher, recordedAt, mapping: mapping === null ? '' : mappingVersionText(mapping) };
}

function common(theirs: ErpLine, ours: Line | SummaryLine) {
  const { account, role, side, amount, description, dimensions } = theirs;
  const vatBase = ours.vat?.base == null ? null : signed({ side: ours.side, amount: ours.vat.base });
  return {
    ...{ account, role, side, amount, description, dimensions, vatBase },
    ...{ rule: ours.rule, paymentType: ours.paymentType },
    vatCode: theirs.vat?.code ?? null,
    vatGroup: ours.vat?.group ?? null,
    vatRate: ours.vat?.rate ?? null,
  };
}

function lineAt(lines: readonly ErpLine[], index: number): ErpLine {
  const line = lines[index];
  if (line === undefined) throw new Error(`there is no line ${index}`);
  return line;
}
