import type { CalendarDate } from '../terms.ts';
import type { FileOptions } from './file-options.ts';

/** Where an installation's general ledger is delivered to (DESIGN "Config", `erp`). */
export type ErpConfig = { kind: 'ledger' } | ApiTargetConfig | FileTargetConfig;

/** An ERP that is spoken with. */
export type ApiTargetConfig = TrytonConfig | OdooConfig;

/** What every target has. */
interface DeliveryConfig {
  /** Units dated before it are not delivered; null: all are. */
  from: CalendarDate | null;
  /** Whether what a first load or a backfill brings is delivered without consent. */
  auto: boolean;
}

/** What every ERP has that is spoken with. */
interface ApiConfig extends DeliveryConfig {
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

export interface TrytonConfig extends ApiConfig {
  kind: 'tryton';
}

export const odooProtocols = ['jsonrpc', 'json2'] as const;

export interface OdooConfig extends ApiConfig {
  kind: 'odoo';
  /** `json2` (Odoo 19) names the user by the key alone: `user` is empty, and `password` is the key. */
  protocol: (typeof odooProtocols)[number];
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
  return isApiTarget(erp);
}

/** Whether entries are sent to an ERP over its interface. */
export function isApiTarget(erp: ErpConfig): erp is ApiTargetConfig {
  return erp.kind === 'tryton' || erp.kind === 'odoo';
}

/** Whether the installation's general ledger is handed over as files. */
export function isFileTarget(erp: ErpConfig): erp is FileTargetConfig {
  return fileFormats.some((format) => format === erp.kind);
}
