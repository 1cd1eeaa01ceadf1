/**
 * The page size for `remaining` records: the smallest multiple of the default that contains them, within the maximum. A
 * request has weight 1 per started default page, so other sizes would waste weight.
 */
export function pageSizeFor(remaining: number, defaultPageSize: number, maxPageSize: number): number {
  const largest = Math.max(defaultPageSize, Math.floor(maxPageSize / defaultPageSize) * defaultPageSize);
  return Math.min(largest, Math.max(1, Math.ceil(remaining / defaultPageSize)) * defaultPageSize);
}
