import { z } from 'zod';
import { type RecordKind, type SourceKind, sourceKinds } from '../terms.ts';
import { dialectTexts } from '../texts/errors/practice.ts';

const name = z.string().min(1);
const path = z.string().regex(/^[\w./-]+\/$/, dialectTexts.pathInvalid);
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
    kinds: z.array(z.enum(sourceKinds)),
    mode: z.enum(['patch', 'subresource']),
    field: name,
    id_key: name,
    subresource: path,
  }),
});

/**
 * The names, limits and variants in which one installation's practice API may differ (mappings/practice-api.yaml). It
 * is frozen, because all parts of a process share it. What the server's answers show about its abilities is stored with
 * the installation instead.
 */
export type Dialect = Readonly<z.infer<typeof dialectSchema>> & {
  /**
   * The installation that owns the records. An address that names another installation is foreign. Null accepts any
   * installation.
   */
  readonly installation: number | null;
};

const actionKinds = ['list', 'retrieve', 'write'] as const;
export type ActionKind = (typeof actionKinds)[number];

/** A dialect or its overrides are not valid. The message names each error. */
export class DialectError extends Error {
  override readonly name = 'DialectError';
  readonly code = 'dialect_invalid';
  readonly todo = dialectTexts.todo;
}

/**
 * Checks a dialect's parsed YAML after merging an installation's overrides into it. Tables are merged; all other values
 * are replaced. Throws DialectError for unknown names and wrong values.
 */
export function parseDialect(data: unknown, overrides: unknown = {}, installation: number | null = null): Dialect {
  const result = dialectSchema.safeParse(merge(data, overrides ?? {}));
  if (!result.success) {
    const places = result.error.issues.map(
      (issue) => `${issue.path.join('.') || dialectTexts.whole}: ${issue.message}`,
    );
    throw new DialectError(dialectTexts.invalid({ places: places.join('; ') }));
  }
  return frozen({ ...result.data, installation });
}

/** Freezes the value and everything in it. */
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

/** A list of the source: one of the four synchronised lists, or any other by its path (`accountnumber`). */
export type ListKind = RecordKind | (string & {});

/** Path of a list below the API's address. It ends with a slash, because the API redirects requests without one. */
export function pathOf(dialect: Dialect, kind: ListKind): string {
  return dialect.paths[kind] ?? `${kind}/`;
}

/**
 * The name of a request's rate budget: resource and kind of action, for example `invoice.list` (practice-api: Limits).
 */
export function actionOf(dialect: Dialect, kind: ListKind, action: ActionKind): string {
  return `${pathOf(dialect, kind).slice(0, -1).replaceAll('/', '_')}.${action}`;
}

/** The resource name of the sub-resource that holds a document's external id. */
export function subresourceOf(dialect: Dialect, kind: SourceKind): string {
  return `${pathOf(dialect, kind)}${dialect.external_info.subresource}`.slice(0, -1);
}

/** The name of the rate budget for writing a document's external id. */
export function externalIdActionOf(dialect: Dialect, kind: SourceKind): string {
  return actionOf(dialect, dialect.external_info.mode === 'patch' ? kind : subresourceOf(dialect, kind), 'write');
}

/**
 * Requests that a rate budget allows in a rolling window. An action that the dialect does not list gets the lowest
 * limit of its kind.
 */
export function limitOf(dialect: Dialect, action: string): number {
  const kind = actionKinds.find((each) => action.endsWith(`.${each}`));
  if (kind === undefined) throw new RangeError(`${action} is no action`);
  return dialect.limits.actions[action] ?? dialect.limits.unknown[kind];
}

/** Weight of a request: `ceil(page_size / default_page_size)` (practice-api: Limits). It is 1 without a page size. */
export function weightOf(pageSize: number | null, defaultPageSize: number): number {
  return pageSize === null ? 1 : Math.max(1, Math.ceil(pageSize / defaultPageSize));
}
