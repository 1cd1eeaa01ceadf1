// How alike two texts are.

/** Longer texts are compared by their beginning, because the time grows with the product of the lengths. */
const maxLength = 150;

/** The number of characters to insert, delete or replace that make one text of the other; `limit` where it is at least that. */
export const editDistance = (one: string, other: string, limit = Number.POSITIVE_INFINITY): number => {
  const [a, b] = [one.slice(0, maxLength), other.slice(0, maxLength)];
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let at = 1; at <= b.length; at++) {
      const replaced = (above[at - 1] as number) + (a[row - 1] === b[at - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[at] as number) + 1, (current[at - 1] as number) + 1));
    }
    above = current;
  }
  return Math.min(above[b.length] as number, limit);
};
