import type { CalendarDate } from '../terms.ts';
import type { FileOptions } from './file-options.ts';
import type { MeasuredFile } from './measured.ts';

/** The destination of an installation's general ledger (DESIGN "Config", `erp`). */
export type ErpConfig = { kind: 'ledger' } | ApiTargetConfig | FileTargetConfig;

/** An ERP that vetledger reaches over its API. */
export type ApiTargetConfig =
  | TrytonConfig
  | OdooConfig
  | ProcountorConfig
  | XeroConfig
  | NetvisorConfig
  | FortnoxConfig;

export type ApiKind = ApiTargetConfig['kind'];

/** Settings of every target. */
interface DeliveryConfig {
  /** Units with an earlier date are not delivered. Null if all units are delivered. */
  from: CalendarDate | null;
  /** Whether the entries of a first load or backfill are delivered without `vetledger deliver --approve`. */
  auto: boolean;
}

/** Settings of every ERP with an API. */
interface ApiConfig extends DeliveryConfig {
  /** The URL of the ERP, without a trailing slash. */
  url: string;
  database: string;
  /** Name or id of the company. Null if the user may see only one company. */
  company: string | null;
  user: string;
  password: string;
  post: 'posted' | 'draft';
  /** E7 reports entries on these accounts that vetledger did not deliver. */
  ownedAccounts: string[];
  /** Whether a closed period of the ERP also sets the lock date of the practice software. */
  closeSourcePeriods: boolean;
  timeoutSeconds: number;
  /** What was measured on a demo company. Absent if nothing was. */
  measured?: MeasuredFile;
}

export interface TrytonConfig extends ApiConfig {
  kind: 'tryton';
}

export const odooProtocols = ['jsonrpc', 'json2'] as const;

export interface OdooConfig extends ApiConfig {
  kind: 'odoo';
  /** With `json2` (Odoo 19), the API key identifies the user: `user` is empty, and `password` is the key. */
  protocol: (typeof odooProtocols)[number];
}

/** `user` is the client's id, and `password` the company's API key. There is no `database`. */
export interface ProcountorConfig extends ApiConfig {
  kind: 'procountor';
  company: string;
  clientSecret: string;
}

/** `user` is the id of the app. There is neither `database` nor `password`. */
export interface XeroConfig extends ApiConfig {
  kind: 'xero';
  company: string;
  /** The address to which Xero sends the browser at `vetledger erp login`. Null for a custom connection. */
  redirectUrl: string | null;
  clientSecret: string;
}

/** `company` is its number (`TenantId`), and `user` the client's id. There is neither `database` nor `password`. */
export interface FortnoxConfig extends ApiConfig {
  kind: 'fortnox';
  company: string;
  clientSecret: string;
}

/**
 * `company` is the business id. `user` and `password` are the id and the key of the API user, `clientId` and
 * `clientSecret` those of the software partner. There is no `database`, and there are no drafts.
 */
export interface NetvisorConfig extends ApiConfig {
  kind: 'netvisor';
  company: string;
  clientId: string;
  clientSecret: string;
}

/** The keys of the section `erp` for one kind, besides those of every kind. */
export interface ErpKeys {
  needs: readonly string[];
  allows: readonly string[];
  /** The address if `url` is absent, for an ERP that has only one. */
  url?: string;
}

const ofAll = ['owned_accounts', 'measured', 'timeout_seconds'];
/** `post` is a key of ERPs that have drafts. */
const ofDrafts = [...ofAll, 'post'];
const server = ['url', 'database'];
const client = ['company', 'client_id', 'client_secret'];

export const xeroUrl = 'https://api.xero.com';
export const fortnoxUrl = 'https://api.fortnox.se';

/** The ERPs with an API. */
export const erpKinds: Readonly<Record<ApiKind, ErpKeys>> = {
  tryton: { needs: [...server, 'user', 'password'], allows: ['company', ...ofDrafts] },
  odoo: { needs: [...server, 'user', 'password'], allows: ['company', 'protocol', ...ofDrafts] },
  procountor: { needs: ['url', ...client, 'api_key'], allows: ['post', 'measured', 'timeout_seconds'] },
  xero: { needs: client, allows: ['url', 'redirect_url', ...ofDrafts], url: xeroUrl },
  netvisor: { needs: ['url', ...client, 'user', 'api_key'], allows: ofAll },
  fortnox: { needs: client, allows: ['url', ...ofAll], url: fortnoxUrl },
};

/** Odoo 19 with a key instead of user and password. */
export const odooWithKey: ErpKeys = { needs: [...server, 'api_key'], allows: ['company', 'protocol', ...ofDrafts] };
export const fileKeys: ErpKeys = { needs: [], allows: ['folder', 'options'] };

export const apiKinds = Object.keys(erpKinds) as ApiKind[];

export function isApiKind(kind: string): kind is ApiKind {
  return Object.hasOwn(erpKinds, kind);
}

export const fileFormats = ['csv', 'sie4', 'datev'] as const;

export type FileTargetConfig = FileOptions &
  DeliveryConfig & {
    /** Folder of the batches, absolute. */
    folder: string;
  };

/** Whether the installation's general ledger is delivered to an ERP or as files. */
export function isDelivered(erp: ErpConfig): erp is Exclude<ErpConfig, { kind: 'ledger' }> {
  return erp.kind !== 'ledger';
}

/** Whether the ERP gives each unit its own number. The write-back then stores this number instead of our entry id. */
export function givesNumbers(erp: ErpConfig): boolean {
  return isApiTarget(erp);
}

export function isApiTarget(erp: ErpConfig): erp is ApiTargetConfig {
  return isApiKind(erp.kind);
}

export function isFileTarget(erp: ErpConfig): erp is FileTargetConfig {
  return fileFormats.some((format) => format === erp.kind);
}
