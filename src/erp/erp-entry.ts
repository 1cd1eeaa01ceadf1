import type { Money } from '../domain/money.ts';
import type { CalendarDate, InstallationId, LineRole, Side } from '../terms.ts';

/**
 * A unit of the general ledger in the ERP's words: what is sent, and what the read-back is compared with. Pure data, made by
 * translate.ts from a unit and the mapping.
 */
export interface ErpEntry {
  /** The permanent key in the ERP's record: 20 characters of base32 (entry-key.ts). */
  key: string;
  /** The readable code: id of the entry or summary. */
  unitId: string;
  installation: InstallationId;
  date: CalendarDate;
  /** Code of the ERP's journal. */
  journal: string;
  /** One line of text without control characters. */
  description: string;
  /** The document's number in the practice software. */
  reference: string | null;
  /** Id of the unit that this one reverses. */
  reverses: string | null;
  /**
   * Whether it is a credit note, or another document that takes back more sales than it makes; a reversal is what its original is.
   * Absent for a summary, in which each line tells by its side.
   */
  isRefund?: boolean;
  /** The ERP's own id of what this one reverses; absent where it reverses nothing, or the ERP does not have that posted. */
  originId?: string;
  lines: ErpLine[];
}

export interface ErpLine {
  account: string;
  role: LineRole;
  side: Side;
  /** Positive. */
  amount: Money;
  description: string;
  /** Null where the account takes none; never null where it needs one. */
  party: ErpParty | null;
  /**
   * The ERP's tax code. `base`: this line's own amount is a base of the code, as every revenue line's is. `tax`: this line's amount
   * is the tax; `base` is what its base has beyond the base lines of this entry, in the line's direction: null for all that
   * posting makes. So each base and each tax is told once.
   */
  vat: { code: string; part: 'base' | 'tax'; base: Money | null; rate: Money | null } | null;
  /** The ERP's value by the ERP's name of the dimension. */
  dimensions: Record<string, string>;
  /** Lines of one open item have one value: the invoice's id as `<installation>/invoice/<id>`. Null where nothing is matched. */
  openItem: string | null;
  dueDate: CalendarDate | null;
}

export interface ErpParty {
  /** For a client `<installation>/client/<id>`, since a company may have several installations; otherwise the ERP's own code. */
  code: string;
  /** Whether it is a client of ours, found by this code as our id and made where it is missing. Any other has to exist. */
  isOurs: boolean;
  name: string | null;
  vatNumber: string | null;
  countryCode: string | null;
}

/** An entry as the ERP holds it, read back. */
export interface FoundEntry {
  /** The ERP's own id. */
  id: string;
  /** Our key, as its record has it; null where somebody else made it. */
  key: string | null;
  /** The number in the ERP's books; null for a draft. */
  number: string | null;
  state: 'draft' | 'posted' | 'void';
  date: CalendarDate;
  journal: string;
  description: string;
  /** The ERP's own id of the entry that it names as its origin; absent where it names none, or the ERP knows none. */
  originId?: string;
  lines: FoundLine[];
}

export interface FoundLine {
  /** The ERP's own id of the line, where it has one. */
  id: string | null;
  account: string;
  /** Debit positive. */
  amount: Money;
  /** The party's code as we know it; null without party, the ERP's own name in brackets for one that we did not make. */
  party: string | null;
  /** Other codes of ours that the same party has: somebody merged two clients in the ERP. */
  partyAlike?: readonly string[];
  /** Debit-positive amounts by tax code and part. `alike`: other codes that the ERP has no means to tell this one from. */
  vat: { code: string; alike?: readonly string[]; part: 'base' | 'tax'; amount: Money }[];
  dimensions: Record<string, string>;
  /** Id of the group of lines that it is matched with in full. */
  matched: string | null;
  /** Its text; absent where it was not asked for. */
  label?: string;
  /** Null where it has none; absent where its account takes none, or it was not asked for. */
  dueDate?: CalendarDate | null;
}
