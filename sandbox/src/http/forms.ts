// What a schema takes depends on the installation that a request goes to: its references, and how strict it is. A schema of the
// resources holds places for such fields; `Forms` puts in what one installation takes. Requests are validated with the result, and the
// OpenAPI description is generated from it.
import { z } from 'zod';
import type { Zone } from '../zone.ts';

/** What a request is read by. */
export interface Reading {
  installation: number;
  /** Whether the installation has such a record. */
  exists: (resource: string, id: number) => boolean;
  /** The zone of times without an offset. */
  zone: Zone;
  /** Decimals of the currency. */
  decimals: number;
  /** Whether an id is taken where a reference is due. */
  bareIds: boolean;
  /** Whether what the specification does not name is refused. */
  strict: boolean;
  /** Whether all values come as text: in queries and forms. */
  isText: boolean;
}

const forms = new WeakMap<z.ZodType, (reading: Reading) => z.ZodType>();

/** A place in a schema for what depends on the reading. It takes nothing by itself. */
export const dependent = <T>(formOf: (reading: Reading) => z.ZodType<T>): z.ZodType<T> => {
  const place = z.custom<T>(() => {
    throw new Error('this schema needs Forms.of');
  });
  forms.set(place, formOf);
  return place;
};

/** The schemas of one reading. */
export class Forms {
  readonly reading: Reading;
  readonly #made = new WeakMap<z.ZodType, z.ZodType>();

  constructor(reading: Reading) {
    this.reading = reading;
  }

  /** The schema with this reading's forms in place. */
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
    // Its parent has the description and the other metadata.
    return z.core.clone(schema as never, { ...def, ...changes } as never, { parent: true }) as unknown as z.ZodType;
  }
}

/** The parts of a schema that are schemas, by the names that zod gives them. */
interface Parts {
  element?: z.ZodType;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  valueType?: z.ZodType;
  options?: z.ZodType[];
  shape?: Record<string, z.ZodType>;
  /** What fields that the shape does not name must be. */
  catchall?: z.ZodType;
}
