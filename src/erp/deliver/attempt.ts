import { createHash } from 'node:crypto';
import type { ErpEntry } from '../erp-entry.ts';
import type { OutboxUnit } from '../outbox/unit.ts';

/** A unit of the outbox, with its entry in the ERP's terms. */
export interface Item {
  unit: OutboxUnit;
  entry: ErpEntry;
}

/**
 * The id of an attempt. It depends on the request's body, and on how often each unit was answered before. So a repeated
 * request without an answer has the same id, even from another process. Any other request has a different id.
 */
export function attemptIdOf(what: 'create' | 'post', items: readonly Item[], ids: readonly string[] = []): string {
  const body = [what, items.map(({ unit, entry }) => [unit.answered, entry]), ids];
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  // Version 8 of RFC 9562 is for ids that an application computes itself.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
