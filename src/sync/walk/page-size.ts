/**
 * The page size for `remaining` records: the fewest multiples of the default that hold them, within the maximum. A request
 * weighs one per default page that it asks for, begun ones included, so that other sizes would waste weight.
 */
export function pageSizeFor(remaining: number, defaultPageSize: number, maxPageSize: number): number {
  const largest = Math.max(defaultPageSize, Math.floor(maxPageSize / defaultPageSize) * defaultPageSize);
  return Math.min(largest, Math.max(1, Math.ceil(remaining / defaultPageSize)) * defaultPageSize);
}
