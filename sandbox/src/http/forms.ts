// Schemas that depend on the installation: its references, and whether it is strict. The schemas of the resources have
// placeholders for such fields; `Forms` replaces them for one installation. The result validates requests, and the
// OpenAPI description is generated from it.
import { z } from 'zod';
import type { Zone } from '../zone.ts';

/** The properties of an installation and a request that schemas depend on. */
export interface Reading {
  installation: number;
  /** Returns whether the installation has this record. */
  exists: (resource: string, id: number) => boolean;
  /** The time zone of times without an offset. */
  zone: Zone;
  /** The number of decimals of the currency. */
  decimals: number;
  /** True if an id is accepted instead of a reference. */
  bareIds: boolean;
  /** True if the installation refuses what the specification does not name. */
  strict: boolean;
  /** True if all values are text: in queries and forms. */
  isText: boolean;
}

const forms = new WeakMap<z.ZodType, (reading: Reading) => z.ZodType>();

/** A placeholder in a schema for a field that depends on the reading. It must be replaced before it can validate. */
export const dependent = <T>(formOf: (reading: Reading) => z.ZodType<T>): z.ZodType<T> => {
  const place = z.custom<T>(() => {
    throw new Error('this schema needs Forms.of');
  });
  forms.set(place, formOf);
  return place;
};

/** The schemas for one reading. */
export class Forms {
  readonly reading: Reading;
  readonly #made = new WeakMap<z.ZodType, z.ZodType>();

  constructor(reading: Reading) {
    this.reading = reading;
  }

  /** The schema with its placeholders replaced for this reading. */
  of<S extends z.ZodType>(schema: S): S {
    const made = this.#made.get(schema) ?? this.#make(schema);
    this.#made.set(schema, made);
    return made as S;
  }

  #make(schema: z.ZodType): z.ZodType {
    const form = forms.get(schema);
    if (form) return this.of(form(this.reading));
    const def = (schema as unknown as { _zod: { def: Parts } })._zod.def;
    const changes: Parts = {};
    for (const part of ['element', 'innerType', 'in', 'out', 'valueType'] as const) {
      const inner = def[part];
      if (inner && this.of(inner) !== inner) changes[part] = this.of(inner);
    }
    if (def.options?.some((option) => this.of(option) !== option)) {
      changes.options = def.options.map((option) => this.of(option));
    }
    const fields = Object.entries(def.shape ?? {});
    if (fields.some(([, field]) => this.of(field) !== field)) {
      changes.shape = Object.fromEntries(fields.map(([name, field]) => [name, this.of(field)]));
    }
    if (def.shape && !def.catchall && this.reading.strict) changes.catchall = z.never();
    if (Object.keys(changes).length === 0) return schema;
    // The clone keeps its parent, which has the description and the other metadata.
    return z.core.clone(schema as never, { ...def, ...changes } as never, { parent: true }) as unknown as z.ZodType;
  }
}

/** The parts of a schema that are schemas too, by the names that zod uses. */
interface Parts {
  element?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  valueType?: z.ZodType;
  options?: z.ZodType[];
  shape?: Record<string, z.ZodType>;
  /** The schema of fields that the shape does not name. */
  catchall?: z.ZodType;
}
