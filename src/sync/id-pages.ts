/** Some wanted ids, by id, which one page of the list can hold together with what lies between them. */
export interface IdPage {
  ids: number[];
  /** Records that the page is expected to hold, those that are not wanted included. */
  records: number;
}

/**
 * Covers wanted ids with as few pages of the default size as there can be. A page weighs one per default page, whatever it holds, so
 * ids that lie close together cost one request for each `pageSize` records, and one that lies far from all others costs one request.
 * Full pages with nothing between them become one request of the same weight. `wanted` is by id, without repetition; `between` is how many
 * other records are known between an id and the one before it.
 */
export function coveringPages(
  wanted: readonly { id: number; between: number }[],
  { pageSize, maxPageSize }: { pageSize: number; maxPageSize: number },
): IdPage[] {
  const covered: (IdPage & { between: number })[] = [];
  for (const { id, between } of wanted) {
    const last = covered.at(-1);
    if (last === undefined || last.records + between + 1 > pageSize) {
      covered.push({ ids: [id], records: 1, between });
      continue;
    }
    last.ids.push(id);
    last.records += between + 1;
  }
  const pages: IdPage[] = [];
  for (const { between, ...page } of covered) {
    const last = pages.at(-1);
    const isBeside = last !== undefined && between === 0 && last.records % pageSize === 0;
    if (isBeside && last.records + page.records <= maxPageSize) {
      last.ids.push(...page.ids);
      last.records += page.records;
    } else pages.push(page);
  }
  return pages;
}
