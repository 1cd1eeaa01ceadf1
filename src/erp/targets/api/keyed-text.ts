import { clip, visible } from '../../../domain/text.ts';
import type { InstallationId } from '../../../terms.ts';
import type { ErpEntry } from '../../erp-entry.ts';

/**
 * How a target that keeps our key in a text keeps it: `a text for people · 4711/invoice/1001/1 [KEY]`. Tryton and Odoo have it so.
 */

/** Longest text of ours in one of the ERP's, before the unit's id and the key. */
export const longestText = 200;

/**
 * The text of an entry: one for people, the id that `vetledger explain` knows, and the key in brackets at its end, by which the entry
 * is found again.
 */
export function keyedText({ description, reference, unitId, key }: ErpEntry): string {
  const number = reference !== null && !description.includes(reference) ? `${reference} ` : '';
  return `${clip(visible(`${number}${description}`), longestText)} · ${unitId} ${keyText(key)}`;
}

/** A text without the key, as it is read back. */
export function withoutKey(text: string, key: string | null): string {
  return key === null ? text : text.replace(keyText(key), '').trim();
}

/** What a text must contain for a key. */
export function keyText(key: string): string {
  return `[${key}]`;
}

const keyPattern = /\[([A-Z2-7]{20})\]/g;

/** The key in a text: the last one, since texts before it come from outside. Null without one. */
export function keyIn(text: string): string | null {
  return [...text.matchAll(keyPattern)].at(-1)?.[1] ?? null;
}

/** Pattern (SQL `like`) of texts with any key. */
export const anyKey = `%[${'_'.repeat(20)}]%`;

/** Pattern (SQL `like`) of texts that name a unit of the installation and end with a key of our form. */
export function keyedLike(installation: InstallationId): string {
  return `%· ${installation}/${anyKey}`;
}

const unitAndKey = /· (\d+\/[^[\]\s]+) \[([A-Z2-7]{20})\]/g;

/** The unit and the key that a text names: the last ones, since texts before them come from outside. Null without them. */
export function unitAndKeyIn(text: string): { unitId: string; key: string } | null {
  const [, unitId, key] = [...text.matchAll(unitAndKey)].at(-1) ?? [];
  return unitId === undefined || key === undefined ? null : { unitId, key };
}
