import type { CalendarDate, InstallationId, LineRole } from '../../terms.ts';
import type { ExportedUnit } from './exported-unit.ts';

/** An installation whose books are exported; the currency is its setting, the books themselves name none. */
export interface ExportInstallation {
  id: InstallationId;
  /** What people call it, where the configuration has a name. */
  name?: string | null;
  currency: string;
  decimals: number;
}

/** What a journal declares before its first entry. */
export interface Declarations {
  /** Whose books they are. */
  title: string;
  commodities: { currency: string; decimals: number }[];
  accounts: { account: string; role: LineRole; currencies: string[]; firstDate: CalendarDate }[];
}

/** A format of journals: the text of the declarations, and that of one unit. */
export interface ExportFormat {
  head: (declarations: Declarations) => string;
  entry: (unit: ExportedUnit, installation: ExportInstallation) => string;
  /** A line for readers; null in a format that has none. */
  comment: ((text: string) => string) | null;
}
