import type { InstallationId } from '../../terms.ts';

/**
 * How a target that keeps our key in a text keeps it: `a text for people · 4711/invoice/1001/1 [KEY]`. Tryton and Odoo have it so.
 */

/** Pattern (SQL `like`) of texts that name a unit of the installation and end with a key of our form. */
export function keyedLike(installation: InstallationId): string {
  return `%· ${installation}/%[${'_'.repeat(20)}]%`;
}

const unitAndKey = /· (\d+\/[^[\]\s]+) \[([A-Z2-7]{20})\]/g;

/** The unit and the key that a text names: the last ones, since texts before them come from outside. Null without them. */
export function unitAndKeyIn(text: string): { unitId: string; key: string } | null {
  const [, unitId, key] = [...text.matchAll(unitAndKey)].at(-1) ?? [];
  return unitId === undefined || key === undefined ? null : { unitId, key };
}
