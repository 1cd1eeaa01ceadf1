// A field in the specification.

export type Kind =
  | ('integer' | 'number' | 'string' | 'uuid' | 'boolean' | 'timestamp' | 'date' | 'decimal' | 'reference')
  | ('array' | 'object');

export interface Type {
  kinds: Kind[];
  nullable: boolean;
  /** The type of an array's elements. */
  element?: Type;
  /** The fields of an object. */
  fields?: Field[];
  /** The only allowed value. */
  literal?: string;
}

/** The description of one field. Undefined members are not in the specification. */
export interface Field {
  name: string;
  written?: Type;
  answered?: Type;
  role?: 'read-only' | 'write-only' | 'writable';
  required?: boolean;
  /** True if some answers lack the field. */
  sometimes?: boolean;
  values?: (number | string)[];
  /** The names of whole-number values, in order. */
  valueNames?: string[];
  /** Values that requests must not send. */
  refused?: number[];
  /** Values that requests may send, and values that they must not send. */
  accepted?: unknown[];
  rejected?: unknown[];
  /** A value in answers. */
  appears?: string;
  minLength?: number;
  maxLength?: number;
  default?: number | string;
  maximum?: number;
  hasNoDefault?: boolean;
  /** Query parameters of the list. */
  filters: string[];
  flags: string[];
  /** Another field with the same values. */
  likeField?: string;
}

export const emptyField = (name: string): Field => ({ name, filters: [], flags: [] });

/** Words for types. A text with one of them is a type, or it cannot be read. */
export const typeWords =
  /\b(?:integer|number|string|boolean|timestamp|date|decimal|url-reference|array|object)s?\b|<string>/;
