import { visible } from '../../../domain/text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../records/json.ts';
import { ErpError } from '../../port.ts';

/** Readers of answers, each of which throws FormError for another form. */

/** An answer has not the form that the ERP's answers have. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

export function wrongForm(expected: string, value: JsonValue): FormError {
  return new FormError(`expected ${expected}, got ${value === null ? 'null' : typeof value}`);
}

export function asList(value: JsonValue): JsonValue[] {
  if (!Array.isArray(value)) throw wrongForm('a list', value);
  return value;
}

export function asRecord(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw wrongForm('a record', value);
  return value;
}

export function asId(value: JsonValue): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrongForm('an id', value);
  return value;
}

export function asText(value: JsonValue): string {
  if (typeof value !== 'string') throw wrongForm('a text', value);
  return value;
}

/** Digits of an id, a date or a header: never of an amount. */
export function wholeNumber(digits: string): number {
  return Number.parseInt(digits, 10);
}

/** An id of the ERP's as it goes over the wire. Throws ErpError for what is none. */
export function idOf(erp: string, id: string): number {
  if (!/^\d{1,15}$/.test(id))
    throw new ErpError('refused', `${visible(id)} is no id of ${erp}’s`, { problem: 'erp_refused' });
  return wholeNumber(id);
}

/** Reads an answer that changed nothing, in a form that only the ERP has. Throws ErpError `unsent` where it has another. */
export function readAs<Value>(value: JsonValue, read: (value: JsonValue) => Value): Value {
  return inForm('unsent', value, read);
}

/** Reads what a writing request answered: after an answer of another form nobody knows what was done. Throws ErpError `doubt`. */
export function writtenAs<Value>(value: JsonValue, read: (value: JsonValue) => Value): Value {
  return inForm('doubt', value, read);
}

function inForm<Value>(means: 'unsent' | 'doubt', value: JsonValue, read: (value: JsonValue) => Value): Value {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FormError) {
      throw new ErpError(means, `the answer has not the form of the ERP’s answers: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
