// JSON like Python writes it: numbers of float fields have a decimal point.

import { Float } from './env.ts';

export function encode(value: unknown): string {
  if (value instanceof Float) return Number.isInteger(value.value) ? `${value.value.toFixed(1)}` : String(value.value);
  if (value === undefined || value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(encode).join(', ')}]`;
  if (typeof value === 'object') {
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${fields.map(([name, one]) => `${JSON.stringify(name)}: ${encode(one)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}
