import type { Capabilities } from './capabilities.ts';

/**
 * How a fact of a capability record is known. `spec`: from the vendor's machine-readable specification. `docs`: from the
 * vendor's texts. `third_party`: from code or texts of others. `assumed`: it was not found, and may be wrong.
 */
export const origins = ['measured', 'spec', 'docs', 'third_party', 'assumed'] as const;
export type Origin = (typeof origins)[number];

export interface Source {
  from: Origin;
  /** Where it stands, or why it is assumed. */
  where: string;
}

type NamesOf<Section> = Section extends readonly unknown[] | null ? never : Extract<keyof Section, string>;

/** A field of a capability record, such as `key.lookup`. */
export type Fact =
  | 'request_id'
  | 'errors'
  | {
      [Section in Exclude<
        keyof Capabilities,
        'kind' | 'request_id' | 'errors'
      >]: Capabilities[Section] extends infer Fields
        ? Fields extends unknown
          ? `${Section}.${NamesOf<Fields>}`
          : never
        : never;
    }[Exclude<keyof Capabilities, 'kind' | 'request_id' | 'errors'>];

/** The origin of each field of a record. */
export interface Provenance {
  /** The ERP, with its version. */
  erp: string;
  capabilities: Capabilities;
  /** The source of the fields that `facts` does not name. */
  rest: Source;
  facts: Partial<Record<Fact, Source>>;
}

export interface KnownFact extends Source {
  fact: string;
  value: unknown;
}

/** Every field of a record, with its value and its origin. */
export function knownFacts({ capabilities, rest, facts }: Provenance): KnownFact[] {
  const sources: Record<string, Source | undefined> = facts;
  const { kind: _, errors, request_id: requestId, ...sections } = capabilities;
  const fields = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]): [string, unknown] => [`${section}.${name}`, value]),
  );
  const all: [string, unknown][] = [...fields, ['request_id', requestId], ['errors', errors.length]];
  return all.map(([fact, value]) => ({ fact, value, ...(sources[fact] ?? rest) }));
}

/** The names of the fields that are assumed. */
export function assumedFacts(provenance: Provenance): string[] {
  return knownFacts(provenance).flatMap(({ fact, from }) => (from === 'assumed' ? fact : []));
}
