import type { AskedKind } from '../../console/users/permitted-actions.ts';
import { mappingPerformers } from './mappings.ts';
import type { LongPerform } from './performer.ts';

/** The actions that take minutes. */
export const longPerformers = {
  ...mappingPerformers,
  reconcile_books: async ({ windows }, installation, _, signal) =>
    windows === null ? null : windows.reconcile(installation, signal),
} as const satisfies Partial<Record<AskedKind, LongPerform>>;
export type LongKind = keyof typeof longPerformers;

export function isLong(kind: string): kind is LongKind {
  return Object.hasOwn(longPerformers, kind);
}
