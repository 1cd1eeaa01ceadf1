import type { CalendarDate, InstallationId, LineRole } from '../../terms.ts';
import type { ExportedUnit } from './exported-unit.ts';

/** An installation to export. The currency comes from the configuration, because the entries do not contain it. */
export interface ExportInstallation {
  id: InstallationId;
  /** The name in the configuration; null or absent if it has none. */
  name?: string | null;
  currency: string;
  decimals: number;
}

/** The declarations of a journal file before its first entry. */
export interface Declarations {
  /** The name of the installations in the file. */
  title: string;
  commodities: { currency: string; decimals: number }[];
  accounts: { account: string; role: LineRole; currencies: string[]; firstDate: CalendarDate }[];
}

/** A file format of the journal: `head` writes the declarations, `unit` one unit. */
export interface ExportFormat {
  head: (declarations: Declarations) => string;
  entry: (unit: ExportedUnit, installation: ExportInstallation) => string;
  /** Writes a comment line. Null if the format has no comments. */
  comment: ((text: string) => string) | null;
}
