/** Some wanted ids in order that fit on one page of the list, together with the records between them. */
export interface IdPage {
  ids: number[];
  /** Expected number of records on the page, including those that are not wanted. */
  records: number;
}

/**
 * Covers wanted ids with the smallest number of pages of the default size. A page has weight 1 per default size,
 * whatever its content. Ids that are close together therefore share a page, and a distant id needs its own request.
 * Full pages without other records between them are combined into one request of the same weight. `wanted` is in the
 * order of ids, without repetition. `between` is the number of other known records between an id and the one before it.
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
