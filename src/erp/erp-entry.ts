import type { Money } from '../domain/money.ts';
import type { CalendarDate, InstallationId, LineRole, Side } from '../terms.ts';

/**
 * A unit of the general ledger in the ERP's terms. It is what a target sends, and what the entry read back from the ERP
 * is compared with. translate.ts makes it from a unit and the mapping.
 */
export interface ErpEntry {
  /** The permanent key that the entry carries in the ERP: 20 characters of base32 (entry-key.ts). */
  key: string;
  /** Id of the entry or daily summary in our books. */
  unitId: string;
  installation: InstallationId;
  date: CalendarDate;
  /** Code of the ERP's journal. */
  journal: string;
  /** A line of text without control characters. */
  description: string;
  /** The document's number in the practice software, or the voucher number of a summary. */
  reference: string | null;
  /** Id of the unit that this one reverses. */
  reverses: string | null;
  /**
   * True for a credit note, or another document whose sales are negative in sum. A reversal has the value of the entry
   * that it reverses. Absent for a summary, where the side of each line decides.
   */
  isRefund?: boolean;
  /**
   * The ERP's id of the entry that this one reverses. Absent if it reverses nothing, or if that entry is not posted in
   * the ERP.
   */
  originId?: string;
  /** The entry as the ERP must post it, and as it is compared. */
  lines: ErpLine[];
  /**
   * The lines to send to an ERP that computes VAT (`vat.mode` in its capability record), which posts `lines` for them.
   * There are no VAT lines, and the amounts of lines with a tax code are net or gross. Absent for other ERPs.
   */
  sentLines?: ErpLine[];
}

export interface ErpLine {
  account: string;
  role: LineRole;
  side: Side;
  /** The amount of the line. It is always positive; `side` gives the direction. */
  amount: Money;
  description: string;
  /** The party of the line. Null if and only if the account takes no party. */
  party: ErpParty | null;
  /**
   * The ERP's tax code. `part: 'base'`: the line's amount is a base of the code, as on every revenue line. `part:
   * 'tax'`: the line's amount is the tax. `base` is then the part of the tax base that is on no base line of this
   * entry; it is null for everything that posting makes. In this way each base and each tax is reported once.
   */
  vat: { code: string; part: 'base' | 'tax'; base: Money | null; rate: Money | null } | null;
  /** The ERP's name of each dimension → the ERP's value. */
  dimensions: Record<string, string>;
  /**
   * Id of the open item, `<installation>/invoice/<id>`. Lines with the same id are matched with each other. Null if the
   * line is not matched.
   */
  openItem: string | null;
  dueDate: CalendarDate | null;
}

export interface ErpParty {
  /**
   * `<installation>/client/<id>` for a client, because a company may have several installations; otherwise the ERP's
   * code of the party.
   */
  code: string;
  /**
   * True for a client of the clinic: the target finds the party by this code, and creates it if it is missing. Any
   * other party must exist in the ERP.
   */
  isOurs: boolean;
  name: string | null;
  vatNumber: string | null;
  countryCode: string | null;
}

/** An entry as it was read back from the ERP. */
export interface FoundEntry {
  /** The ERP's id. */
  id: string;
  /** Our key in the ERP's record; null if vetledger did not make the entry. */
  key: string | null;
  /** The entry's number in the ERP's books, or its id if the ERP gives no numbers; null for a draft. */
  number: string | null;
  state: 'draft' | 'posted' | 'void';
  date: CalendarDate;
  journal: string;
  description: string;
  /**
   * The ERP's id of the entry that this one names as its origin. Absent if it names none, or if the ERP has no such
   * field.
   */
  originId?: string;
  lines: FoundLine[];
}

export interface FoundLine {
  /** The ERP's id of the line; null if lines have no id. */
  id: string | null;
  account: string;
  /** Debit positive. */
  amount: Money;
  /** Our code of the party. For a party that vetledger did not make, the ERP's name in brackets. Null without party. */
  party: string | null;
  /** Further codes of ours of the same party. A party has several if a user merged clients in the ERP. */
  partyAlike?: readonly string[];
  /**
   * Amounts by tax code and part, debit positive. `alike`: other codes that the ERP cannot distinguish from this one.
   */
  vat: { code: string; alike?: readonly string[]; part: 'base' | 'tax'; amount: Money }[];
  dimensions: Record<string, string>;
  /** Id of the group of lines that the line is fully matched with; null if it is not. */
  matched: string | null;
  /** The line's text; absent if it was not requested. */
  label?: string;
  /** Null if the line has no due date. Absent if its account takes none, or if it was not requested. */
  dueDate?: CalendarDate | null;
}
