import type { z } from 'zod';
import { roles } from '../terms.ts';
import { mappingFaults } from '../texts/mapping/faults.ts';
import { knownHint } from './fields.ts';
import { policies } from './policies.ts';
import { type Mapping, mappingSchema, paymentType, revenueConditions, target, vatConditions } from './schema.ts';

/** Parses a mapping file's YAML. Returns every fault with its path if there is one. */
export function parseMapping(data: unknown): { mapping: Mapping } | { errors: string[] } {
  const result = mappingSchema.safeParse(withoutEmpty(data ?? {}));
  return result.success ? { mapping: result.data } : { errors: result.error.issues.flatMap(describe) };
}

/** A section that contains only comments counts as absent. */
function withoutEmpty(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([, section]) => section !== null));
}

function describe(issue: z.core.$ZodIssue): string[] {
  const faults = ownFaults(issue);
  if (faults.length > 0) return faults.map(({ path: place, message }) => `${place.join('.')}: ${message}`);
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys')
    return [`${path || mappingFaults.theFile}: ${nested(issue) ?? issue.message}`];
  return issue.keys.map((key) => {
    const known = knownKeys(issue.path);
    return mappingFaults.unknownKey({ path: [...issue.path, key].join('.'), hint: knownHint(key, known) });
  });
}

/**
 * If a value may have several forms, returns the faults inside the form that the value has. Empty if the value has none
 * of these forms.
 */
function ownFaults(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string }[] {
  if (issue.code !== 'invalid_union') return [];
  return issue.errors.flat().flatMap((inner) => {
    const path = [...issue.path, ...inner.path];
    if (inner.code === 'custom') return [{ path, message: inner.message }];
    return ownFaults({ ...inner, path });
  });
}

/** The message of a refused key, which zod puts one level down. */
function nested(issue: z.core.$ZodIssue): string | null {
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? null) : null;
}

function knownKeys(path: PropertyKey[]): string[] {
  const [section] = path;
  if (section === undefined) return Object.keys(mappingSchema.shape);
  if (section === 'roles') return [...roles];
  if (section === 'revenue_rules')
    return path.includes('when') ? Object.keys(revenueConditions) : ['when', 'account', 'role'];
  if (section === 'vat_rules') return path.includes('when') ? Object.keys(vatConditions) : ['when', 'account'];
  if (section === 'vat_groups') return ['group', 'rate', 'kind', 'account', 'not_due', 'code', 'from', 'to'];
  if (section === 'payment_types') return path.length > 2 ? Object.keys(target) : Object.keys(paymentType.shape);
  return section === 'policies' ? Object.keys(policies) : ['insurance_receivable', 'financing_receivable'];
}
