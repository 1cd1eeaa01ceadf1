import type { CalendarDate } from '../terms.ts';
import type { FileOptions } from './file-options.ts';

/** Where an installation's general ledger is delivered to (DESIGN "Config", `erp`). */
export type ErpConfig = { kind: 'ledger' } | TrytonConfig | FileTargetConfig;

/** What every target has. */
interface DeliveryConfig {
  /** Units dated before it are not delivered; null: all are. */
  from: CalendarDate | null;
  /** Whether what a first load or a backfill brings is delivered without consent. */
  auto: boolean;
}

export interface TrytonConfig extends DeliveryConfig {
  kind: 'tryton';
  /** Without a trailing slash. */
  url: string;
  database: string;
  /** Name or id of the company; null: the only one. */
  company: string | null;
  user: string;
  password: string;
  post: 'posted' | 'draft';
  /** Accounts on which entries that are not ours are reported by E7. */
  ownedAccounts: string[];
  /** Whether a period that is closed in the ERP also locks the practice software's. */
  closeSourcePeriods: boolean;
  timeoutSeconds: number;
}

export const fileFormats = ['csv', 'sie4', 'datev'] as const;

export type FileTargetConfig = FileOptions &
  DeliveryConfig & {
    /** Folder of the batches, absolute. */
    folder: string;
  };

/** Whether the installation's general ledger leaves this database at all. */
export function isDelivered(erp: ErpConfig): erp is Exclude<ErpConfig, { kind: 'ledger' }> {
  return erp.kind !== 'ledger';
}

/** Whether the ERP gives each unit a document number of its own, which the practice software is then told instead of our entry id. */
export function givesNumbers(erp: ErpConfig): boolean {
  return erp.kind === 'tryton';
}

/** Whether the installation's general ledger is handed over as files. */
export function isFileTarget(erp: ErpConfig): erp is FileTargetConfig {
  return fileFormats.some((format) => format === erp.kind);
}
