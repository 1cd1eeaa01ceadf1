import type { ErpBooks } from '../../port.ts';
import { type EntryPages, SummedBooks } from '../api/summed-books.ts';
import { type ProcountorReader, sinceADayBefore } from './read.ts';

/** The books of a company: its journals, without other types of receipts and without the VAT that Procountor computes. */
export function procountorBooks(reader: ProcountorReader): ErpBooks {
  const pages: EntryPages = async function* ({ from, through, changedSince }, request) {
    const query = {
      startDate: from,
      endDate: through,
      ...(changedSince && { versionStartDate: sinceADayBefore(changedSince) }),
    };
    for await (const page of reader.receipts(query, request)) {
      const ids = page.filter(({ state }) => state !== 'draft').map(({ id }) => id);
      if (ids.length > 0) yield await reader.read(ids, request);
    }
  };
  return new SummedBooks(pages);
}
