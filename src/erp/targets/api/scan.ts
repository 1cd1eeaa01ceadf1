import type { FoundEntry } from '../../erp-entry.ts';
import type { KeyToFind, RequestOptions } from '../../port.ts';
import type { ErpReader, ScanRange } from './erp-api.ts';
import { keyIn } from './keyed-text.ts';
import { ListChanged } from './pages.ts';

/**
 * Finds entries by key in an ERP that cannot search for keys: one scan lists the entries that may have one of them. If
 * the list changed meanwhile, the answer is incomplete.
 */
export async function scanFor(
  keys: readonly KeyToFind[],
  reader: Pick<ErpReader, 'read' | 'scan'>,
  request: RequestOptions,
): Promise<{ found: FoundEntry[]; isComplete: boolean }> {
  const wanted = new Set(keys.map(({ key }) => key));
  const ids: string[] = [];
  const found: FoundEntry[] = [];
  let isComplete = true;
  try {
    for await (const page of reader.scan?.(rangeOf(keys), request) ?? []) {
      for (const { id, entry } of page.filter(({ text }) => wanted.has(keyIn(text) ?? ''))) {
        if (entry === undefined) ids.push(id);
        else found.push(entry);
      }
    }
  } catch (error) {
    if (!(error instanceof ListChanged)) throw error;
    isComplete = false;
  }
  return { found: [...found, ...(ids.length === 0 ? [] : await reader.read(ids, request))], isComplete };
}

const dayMs = 86_400_000;

/**
 * An entry is created after its first attempt. If that is unknown, it is created after its date, because documents
 * dated in the future are held. A day is taken off, since the ERP's clock may be in another time zone.
 */
export function rangeOf(keys: readonly KeyToFind[]): ScanRange {
  const days = keys.flatMap(({ dates }) => dates).toSorted();
  const [from = '', through = from] = [days[0], days.at(-1)];
  const begun = keys.map(({ since, dates }) => since?.getTime() ?? Date.parse(dates[0] ?? from));
  return { since: new Date(Math.min(...begun) - dayMs), dates: { from, through } };
}
