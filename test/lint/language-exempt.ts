/** Paths that are not yet in plain language. Each rewrite takes its lines out; nothing is added. */
export const exempt = {
  words: ['deploy/', 'docs/reference/', 'test/', 'vitest.'],
  sentences: [],
};
