import type { Capabilities } from '../../src/erp/capabilities.ts';

/** The capability record of an ERP that accepts everything. `changes` replaces whole sections. */
export function capabilitiesOf(changes: Partial<Capabilities> = {}): Capabilities {
  return {
    kind: 'api',
    key: {
      unique: 'none',
      duplicate_reply: 'doubled',
      lookup: 'exact',
      lookup_lag_seconds: 0,
    },
    request_id: null,
    write: {
      steps: 'draft_then_post',
      max_entries: 100,
      max_lines: 500,
      max_bytes: 1_000_000,
      withdraw: 'delete',
    },
    doubt: { server_may_work_seconds: 1 },
    pace: { in_flight_per_company: 1, limits: [], errors_allowed: null },
    lines: {
      decimals: 2,
      party: 'per_line',
      max_dimensions: null,
    },
    vat: { mode: 'explicit_rows', tolerance_minor: 0 },
    periods: { readable: true, on_locked: 'refused' },
    text: { encoding: 'utf-8', lengths: {}, forbidden: '' },
    read_back: { by: 'id', normalises: [] },
    errors: [],
    ...changes,
  };
}

/** Changes to members of a capability record at any depth. */
export type Changes = {
  [Key in keyof Capabilities]?: Capabilities[Key] extends readonly unknown[] | string
    ? Capabilities[Key]
    : Partial<Capabilities[Key]>;
};

/** Makes a copy of a record with some members of its sections replaced. */
export function capabilitiesWith(changes: Changes = {}): Capabilities {
  const record = capabilitiesOf();
  const changed = Object.entries(changes).map(([name, change]) => {
    const before = record[name as keyof Capabilities];
    const isSection = typeof before === 'object' && !Array.isArray(before);
    return [name, isSection ? { ...before, ...(change as object) } : change];
  });
  return { ...record, ...Object.fromEntries(changed) };
}
