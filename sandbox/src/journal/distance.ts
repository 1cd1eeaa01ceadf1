// Measures how similar two texts are.

/** Only the first characters of longer texts are compared, because the time grows with the product of the lengths. */
const maxLength = 150;

/** The number of characters to insert, delete or replace to turn one text into the other, but at most `limit`. */
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
