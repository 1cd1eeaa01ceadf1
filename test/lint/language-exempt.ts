/** Paths that are not yet in plain language. Each rewrite takes its lines out; nothing is added. */
export const exempt = {
  words: ['CHANGELOG.md', 'README.md', 'SECURITY.md', 'bin/', 'deploy/', 'docs/', 'src/', 'test/', 'vitest.'],
  sentences: [],
  todos: ['src/'],
};
