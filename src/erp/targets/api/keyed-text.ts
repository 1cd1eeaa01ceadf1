import { clip, visible } from '../../../domain/text.ts';
import type { InstallationId } from '../../../terms.ts';
import { deliveryFindings } from '../../../texts/findings/delivery.ts';
import type { ErpEntry } from '../../erp-entry.ts';
import { ErpError } from '../../port.ts';

/** The text in which a target stores our key: `description · 4711/invoice/1001/1 [KEY]`. Tryton and Odoo use it. */

/** Maximum length of the description, before the unit's id and the key. */
export const longestText = 200;

/**
 * The text of an entry: its description, the unit's id (for `vetledger explain`), and the key in brackets, by which the
 * entry is found. `longest`: maximum length of the whole text. Throws ErpError `refused` if unit id and key do not fit.
 */
export function keyedText({ description, reference, unitId, key }: ErpEntry, longest?: number): string {
  const number = reference !== null && !description.includes(reference) ? `${reference} ` : '';
  const end = ` · ${unitId} ${keyText(key)}`;
  // Without its key, an entry would never be found again.
  if (longest !== undefined && end.length >= longest) {
    const message = deliveryFindings.noRoomForKey({ most: longest });
    throw new ErpError('refused', message, { problem: 'erp_too_large', keys: [key] });
  }
  // A text that is cut ends with an ellipsis.
  const most = longest === undefined ? longestText : longest - end.length - 1;
  return `${clip(visible(`${number}${description}`), most)}${end}`;
}

/** The text without the key, as a read-back compares it. */
export function withoutKey(text: string, key: string | null): string {
  return key === null ? text : text.replace(keyText(key), '').trim();
}

/** The key as texts contain it. */
export function keyText(key: string): string {
  return `[${key}]`;
}

const keyPattern = /\[([A-Z2-7]{20})\]/g;

/**
 * The last key in a text; null if there is none. The text before it comes from outside, and might contain a key too.
 */
export function keyIn(text: string): string | null {
  return [...text.matchAll(keyPattern)].at(-1)?.[1] ?? null;
}

/** Pattern (SQL `like`) of texts with a key. */
export const anyKey = `%[${'_'.repeat(20)}]%`;

/** Pattern (SQL `like`) of texts that name a unit of the installation and have a key. */
export function keyedLike(installation: InstallationId): string {
  return `%· ${installation}/${anyKey}`;
}

const unitAndKey = /· (\d+\/[^[\]\s]+) \[([A-Z2-7]{20})\]/g;

/**
 * The last unit id and key in a text; null if there are none. The text before them comes from outside, and might
 * contain such parts too.
 */
export function unitAndKeyIn(text: string): { unitId: string; key: string } | null {
  const [, unitId, key] = [...text.matchAll(unitAndKey)].at(-1) ?? [];
  return unitId === undefined || key === undefined ? null : { unitId, key };
}
