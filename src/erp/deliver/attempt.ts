import { createHash } from 'node:crypto';
import type { ErpEntry } from '../erp-entry.ts';
import type { OutboxUnit } from '../outbox/unit.ts';

/** A unit of the outbox with the entry that it is in the ERP's words. */
export interface Item {
  unit: OutboxUnit;
  entry: ErpEntry;
}

/**
 * The id of an attempt: of the request's body and of how often each of its units was answered before. So a request that ended
 * without an answer keeps its id when it is repeated, also by another process, and any other request has one of its own.
 */
export function attemptIdOf(what: 'create' | 'post', items: readonly Item[], ids: readonly string[] = []): string {
  const body = [what, items.map(({ unit, entry }) => [unit.answered, entry]), ids];
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  // Version 8 of RFC 9562 is for ids that a program makes in its own way.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
