// The numbers of entries: JOURNAL/YEAR/MONTH/0001, or JOURNAL/YEAR/00001 in a journal that counts by year.

import type { Env } from './env.ts';
import type { Row } from './store.ts';

const yearly = new Set(['sale', 'bank', 'cash']);

function prefixOf(env: Env, move: Row): { prefix: string; digits: number } {
  const journal = env.store.get('account.journal', move.journal_id as number);
  const [year = '', month = ''] = (move.date as string).split('-');
  const code = String(journal?.code ?? '');
  return yearly.has(String(journal?.type))
    ? { prefix: `${code}/${year}/`, digits: 5 }
    : { prefix: `${code}/${year}/${month}/`, digits: 4 };
}

export function isNumber(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name !== '/';
}

/** The numbers of other entries in the journal. */
function others(env: Env, move: Row): string[] {
  return env.store
    .rows('account.move')
    .filter((other) => other.id !== move.id && other.journal_id === move.journal_id)
    .flatMap(({ name }) => (isNumber(name) ? [name] : []));
}

export function highestOf(env: Env, move: Row): string | null {
  return others(env, move).toSorted().at(-1) ?? null;
}

/** The next number in the period. A draft of Odoo 17 gets it only if it is the first there. */
export function nextNumber(env: Env, move: Row): { number: string; isFirst: boolean } {
  const { prefix, digits } = prefixOf(env, move);
  const taken = others(env, move).filter((name) => name.startsWith(prefix));
  const last = Math.max(0, ...taken.map((name) => Number(name.slice(prefix.length))));
  return { number: prefix + String(last + 1).padStart(digits, '0'), isFirst: taken.length === 0 };
}

export function fitsPeriod(env: Env, move: Row): boolean {
  return isNumber(move.name) && move.name.startsWith(prefixOf(env, move).prefix);
}

/** True if no other entry of the period has a higher number. */
export function isEndOfChain(env: Env, move: Row): boolean {
  const { name } = move;
  if (!isNumber(name)) return true;
  const prefix = name.slice(0, name.lastIndexOf('/') + 1);
  return others(env, move).every((other) => !other.startsWith(prefix) || other < name);
}
