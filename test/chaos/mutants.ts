// Broken variants of the sync, each a mistake that loses records, as changes of its source text: the runs have to notice each.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

export interface Patch {
  /** Below the repository. */
  file: string;
  /** Stands in it exactly once. */
  find: string;
  replace: string;
}

const root = new URL('../../', import.meta.url);

export const mutants: Record<string, Patch[]> = {
  'cursor = the highest id seen': [
    {
      file: 'src/sync/pull.ts',
      find: `kind = 'payment' and first_seen_at < ?`,
      replace: `kind = 'payment' and ?::timestamptz is not null`,
    },
  ],
  'settled judged when the question is asked': [
    {
      file: 'src/sync/streams.ts',
      find: 'const after = cursors.payment.value?.after ?? null;',
      replace: 'const after = await nextPaymentCursor(context, new Date(window.to));',
    },
  ],
  'overlap 0': [
    {
      file: 'src/sync/streams.ts',
      find: 'new Date(new Date(watermark).getTime() - overlapMs)',
      replace: 'new Date(new Date(watermark).getTime())',
    },
  ],
  'ascending order trusted': [
    {
      file: 'src/sync/walk/walk.ts',
      find: 'if (ids.some((id, i) => i > 0 && id < ids[i - 1]!)) {',
      replace: 'if (ids.length < 0) {',
    },
    {
      file: 'src/sync/walk/walk.ts',
      find: 'if (expected !== null && answer.count !== expected) {',
      replace: 'if (answer.count < 0) {',
    },
  ],
  'an older answer overwrites a newer one': [
    {
      file: 'src/mirror/store.ts',
      find: 'else if (isLater(page.sourceTime, next, previous)) differing.push(next);',
      replace: 'else differing.push(next);',
    },
  ],
  'rows accepted within the second of modified': [
    {
      file: 'src/mirror/store.ts',
      find: `date_trunc('second', coalesce(t.modified, ?)) + interval '1 second'`,
      replace: `date_trunc('second', coalesce(t.modified, ?))`,
    },
  ],
};

/** The patched text of a file. Throws where a patch does not fit exactly once. */
export function patched(text: string, patches: Patch[]): string {
  let result = text;
  for (const { file, find, replace } of patches) {
    const parts = result.split(find);
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${find}`);
    result = parts.join(replace);
  }
  return result;
}

/** Has the patches of a mutant applied to what this process loads from here on. */
export function applyMutant(name: string): void {
  const byUrl = Map.groupBy(mutants[name]!, ({ file }) => new URL(file, root).href);
  for (const [url, patches] of byUrl) patched(readFileSync(new URL(url), 'utf8'), patches);
  registerHooks({
    load(url, context, nextLoad) {
      const patches = byUrl.get(url);
      if (!patches) return nextLoad(url, context);
      const source = patched(readFileSync(new URL(url), 'utf8'), patches);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}
