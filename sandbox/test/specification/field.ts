// A field as the specification describes it.

export type Kind =
  | ('integer' | 'number' | 'string' | 'uuid' | 'boolean' | 'timestamp' | 'date' | 'decimal' | 'reference')
  | ('array' | 'object');

export interface Type {
  kinds: Kind[];
  nullable: boolean;
  /** Of an array. */
  element?: Type;
  /** Of an object. */
  fields?: Field[];
  /** A value that is the only one. */
  literal?: string;
}

/** One field as the specification describes it. Undefined: it does not say. */
export interface Field {
  name: string;
  written?: Type;
  answered?: Type;
  role?: 'read-only' | 'write-only' | 'writable';
  required?: boolean;
  /** Not in every answer. */
  sometimes?: boolean;
  values?: (number | string)[];
  /** Names of whole-number values, in their order. */
  valueNames?: string[];
  /** Values that a request may not carry. */
  refused?: number[];
  /** Values that a request may carry, and may not. */
  accepted?: unknown[];
  rejected?: unknown[];
  /** A value that answers carry. */
  appears?: string;
  minLength?: number;
  maxLength?: number;
  default?: number | string;
  maximum?: number;
  hasNoDefault?: boolean;
  /** Query parameters of the list. */
  filters: string[];
  flags: string[];
  /** Another field that has the same values. */
  likeField?: string;
}

export const emptyField = (name: string): Field => ({ name, filters: [], flags: [] });

/** Words of types: a text with one of them is a type, or it is not read. */
export const typeWords =
  /\b(?:integer|number|string|boolean|timestamp|date|decimal|url-reference|array|object)s?\b|<string>/;
