/** Whether no number is lower than the one before it. Equal numbers may follow each other. */
export function isAscending(numbers: readonly number[]): boolean {
  let previous = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    if (number < previous) return false;
    previous = number;
  }
  return true;
}

/** Whether no number is higher than the one before it. */
export function isDescending(numbers: readonly number[]): boolean {
  return isAscending(numbers.map((number) => -number));
}
