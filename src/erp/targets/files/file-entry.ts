import { type Line, signed } from '../../../domain/entry.ts';
import type { Money } from '../../../domain/money.ts';
import type { GeneralLedgerUnit } from '../../../ledger/general-ledger.ts';
import type { SummaryLine } from '../../../ledger/summaries/summary.ts';
import type { CalendarDate, LineRole, Side } from '../../../terms.ts';
import type { ErpEntry, ErpLine } from '../../erp-entry.ts';

/** An entry in the ERP's terms, with further facts from the books that files can contain. */
export interface FileEntry extends Omit<ErpEntry, 'lines'> {
  /** The document's business date; null for a daily summary. */
  documentDate: CalendarDate | null;
  lines: FileLine[];
}

export interface FileLine {
  account: string;
  role: LineRole;
  side: Side;
  /** Positive. */
  amount: Money;
  description: string;
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

/** Combines a unit with its translation. Both have the same lines in the same order. */
export function fileEntry(
  unit: GeneralLedgerUnit,
  entry: ErpEntry,
  { collectiveParty }: { collectiveParty: string | null },
): FileEntry {
  const { lines, ...head } = entry;
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
        return { ...common(theirs, line), ...facts };
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
      return { ...common(theirs, line), ...nothing, departmentId: posting.departmentId, party };
    }),
  };
}

function common(theirs: ErpLine, ours: Line | SummaryLine) {
  const { account, role, side, amount, description, dimensions } = theirs;
  const vatBase = ours.vat?.base == null ? null : signed({ side: ours.side, amount: ours.vat.base });
  return {
    ...{ account, role, side, amount, description, dimensions, vatBase },
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
