const words = new Set([
  ...['demo', 'sandbox', 'test', 'testing', 'tests', 'trial', 'training', 'playground', 'staging', 'dev', 'pts'],
  ...['testi', 'koe', 'harjoitus', 'prov', 'övning', 'übung', 'muster'],
]);

/** Whether one of these names says that a company is for trials: `demo`, `test` or the like is one of its words. */
export function saysSandbox(names: readonly (string | null)[]): boolean {
  return names.some((name) =>
    (name ?? '')
      .toLowerCase()
      .split(/[^\p{Letter}]+/u)
      .some((word) => words.has(word)),
  );
}
