import { type Money, parseMoney } from '../../../domain/money.ts';
import { visible } from '../../../domain/text.ts';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
  verbatimNumber,
} from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError } from '../../port.ts';

/** Functions that read the JSON of answers. Each throws FormError if the value has another type. */

/** An answer does not have the ERP's form. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

export function wrongForm(expected: string, value: JsonValue): FormError {
  return new FormError(erpAnswerTexts.expected({ expected, got: value === null ? 'null' : typeof value }));
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

/** An amount that the ERP writes as a JSON number. */
export function asAmount(value: JsonValue): Money {
  const text = typeof value === 'number' || isExactNumber(value) ? stringifyJson(value) : '';
  const amount = parseMoney(text);
  if (amount === null) throw wrongForm('an amount', value);
  return amount;
}

/** An amount as a JSON number with these decimals. Its digits never pass through binary64. */
export function toAmount(amount: Money, decimals: number): JsonValue {
  return verbatimNumber(amount.toFixed(Math.max(decimals, amount.decimalPlaces())));
}

/** Parses the digits of an id, a date or a header. Never used for amounts. */
export function wholeNumber(digits: string): number {
  return Number.parseInt(digits, 10);
}

/** An id of the ERP as a number. Throws ErpError if it is not one. */
export function idOf(erp: string, id: string): number {
  if (!/^\d{1,15}$/.test(id))
    throw new ErpError('refused', erpAnswerTexts.notAnId({ id: visible(id), erp }), { problem: 'erp_refused' });
  return wholeNumber(id);
}

/** Reads the answer to a request that changed nothing. Throws ErpError `unsent` if the answer has another form. */
export function readAs<Value>(value: JsonValue, read: (value: JsonValue) => Value): Value {
  return inForm('unsent', value, read);
}

/**
 * Reads the answer to a writing request. Throws ErpError `doubt` if the answer has another form, since the request may
 * have taken effect.
 */
export function writtenAs<Value>(value: JsonValue, read: (value: JsonValue) => Value): Value {
  return inForm('doubt', value, read);
}

function inForm<Value>(means: 'unsent' | 'doubt', value: JsonValue, read: (value: JsonValue) => Value): Value {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FormError) {
      throw new ErpError(means, erpAnswerTexts.wrongForm({ reason: error.message }), { cause: error });
    }
    throw error;
  }
}
