import { z } from 'zod';
import { type DocumentKind, documentKinds, type RecordKind } from '../terms.ts';

const name = z.string().min(1);
const path = z.string().regex(/^[\w./-]+\/$/, 'a path ends with a slash and has no query');
const positive = z.int().min(1);

function fields<const Name extends string>(...names: Name[]) {
  return z.strictObject(Object.fromEntries(names.map((field) => [field, name])) as Record<Name, typeof name>);
}

const dialectSchema = z.strictObject({
  paths: z.object({ token: path, api: path, department_settings: path }).catchall(path),
  expose: z.record(name, z.array(name)),
  default_page_size: positive,
  max_page_size: positive,
  limits: z.strictObject({
    unknown: z.strictObject({ list: positive, retrieve: positive, write: positive }),
    actions: z.record(z.string().regex(/^\w+\.(list|retrieve|write)$/), positive),
  }),
  fields: z.strictObject({
    invoice: fields(
      ...(['id', 'status', 'number', 'prefix', 'invoice_date', 'due_date', 'created', 'modified'] as const),
      ...(['credit_note', 'countersale', 'total', 'total_vat', 'total_with_vat', 'due_sum'] as const),
      ...([
        'bank_reference',
        'client',
        'department',
        'original_invoice',
        'consolidated_invoices',
        'consultation',
      ] as const),
      ...(['payer_name', 'payer_organization_name', 'payer_vat_number', 'payer_country_code'] as const),
      'payer_register_number',
    ),
    row: fields(
      ...(['id', 'invoice', 'name', 'sum', 'sum_vat', 'sum_total', 'account_number'] as const),
      ...(['dimension_1', 'dimension_2', 'dimension_3'] as const),
      ...(['internal_account', 'internal_dimension_1', 'internal_dimension_2'] as const),
      ...(['vat_group', 'vat_group_name', 'vat_group_rate', 'vat_group_account'] as const),
      ...(['vat_percentage', 'credited_row', 'modified'] as const),
    ),
    payment: fields('id', 'invoice', 'payment_type', 'paid', 'date_added', 'modified'),
    prepayment: fields(
      ...(['id', 'client', 'department', 'payment_type', 'paid', 'unused_amount', 'refunds', 'status'] as const),
      ...(['created', 'modified', 'description', 'external_id'] as const),
    ),
    department_settings: fields('lock_date', 'automatic_lock'),
  }),
  prepayment: z.strictObject({
    statuses: z.record(z.string(), z.enum(['ready', 'pending', 'fully used', 'failed', 'aborted'])),
    refund_lowers_unused_amount: z.union([z.boolean(), z.literal('auto')]),
  }),
  external_info: z.strictObject({
    kinds: z.array(z.enum(documentKinds)),
    mode: z.enum(['patch', 'subresource']),
    field: name,
    id_key: name,
    subresource: path,
  }),
});

/**
 * The names, limits and variants in which one installation's practice API may differ (mappings/practice-api.yaml). All of a
 * process share it, so that nothing changes it; what answers show of the server is stored with the installation.
 */
export type Dialect = Readonly<z.infer<typeof dialectSchema>> & {
  /** The installation whose records they are: what names another one is not ours. Null: that of any. */
  readonly installation: number | null;
};

const actionKinds = ['list', 'retrieve', 'write'] as const;
export type ActionKind = (typeof actionKinds)[number];

/** A dialect or its overrides are not valid; `message` names each fault. */
export class DialectError extends Error {
  override readonly name = 'DialectError';
  readonly code = 'dialect_invalid';
  readonly todo = 'Correct the named parts; mappings/practice-api.yaml shows every name there is.';
}

/**
 * A dialect's parsed YAML with an installation's overrides laid over it (tables merge, everything else replaces). Throws
 * DialectError for unknown names and wrong values.
 */
export function parseDialect(data: unknown, overrides: unknown = {}, installation: number | null = null): Dialect {
  const result = dialectSchema.safeParse(merge(data, overrides ?? {}));
  if (!result.success) {
    const places = result.error.issues.map((issue) => `${issue.path.join('.') || 'the whole'}: ${issue.message}`);
    throw new DialectError(`The description of the practice API is not valid: ${places.join('; ')}`);
  }
  return frozen({ ...result.data, installation });
}

/** The value with everything in it frozen. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

function merge(base: unknown, over: unknown): unknown {
  if (!isTable(base) || !isTable(over)) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value !== undefined) merged[key] = Object.hasOwn(base, key) ? merge(base[key], value) : value;
  }
  return merged;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of the source: one of the four synchronised, or any other by its path (`accountnumber`). */
export type ListKind = RecordKind | (string & {});

/** Path of a list below the API's address; without the trailing slash the API redirects. */
export function pathOf(dialect: Dialect, kind: ListKind): string {
  return dialect.paths[kind] ?? `${kind}/`;
}

/** The name of a request's rate budget: resource and kind of action, `invoice.list` (practice-api: Limits). */
export function actionOf(dialect: Dialect, kind: ListKind, action: ActionKind): string {
  return `${pathOf(dialect, kind).slice(0, -1).replaceAll('/', '_')}.${action}`;
}

/** The sub-resource that holds a document's external id, as the name of a resource. */
export function subresourceOf(dialect: Dialect, kind: DocumentKind): string {
  return `${pathOf(dialect, kind)}${dialect.external_info.subresource}`.slice(0, -1);
}

/** The budget of writing a document's external id. */
export function externalIdActionOf(dialect: Dialect, kind: DocumentKind): string {
  return actionOf(dialect, dialect.external_info.mode === 'patch' ? kind : subresourceOf(dialect, kind), 'write');
}

/** Requests per rolling window of a budget; for an unknown one the lowest known limit of its kind. */
export function limitOf(dialect: Dialect, action: string): number {
  const kind = actionKinds.find((each) => action.endsWith(`.${each}`));
  if (kind === undefined) throw new RangeError(`${action} is no action`);
  return dialect.limits.actions[action] ?? dialect.limits.unknown[kind];
}

/** Weight of a request: `ceil(page_size / default_page_size)` (practice-api: Limits); 1 without a page size. */
export function weightOf(pageSize: number | null, defaultPageSize: number): number {
  return pageSize === null ? 1 : Math.max(1, Math.ceil(pageSize / defaultPageSize));
}
