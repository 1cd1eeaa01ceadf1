import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folders = 'src|test|activities|workflows|sandbox|bench|scripts|bin|mappings|docs';
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'sandbox/README.md',
  ...globSync('docs/**/*.md', { cwd: root }),
];
const sources = globSync(`{${folders.replaceAll('|', ',')}}/**/*.{ts,sql,yaml,py}`, { cwd: root });

/** Paths in backticks; `*` matches any name. */
function pathsOfPage(text: string): string[] {
  const code = text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g);
  return [...code].map(([, path = '']) => path).filter((path) => new RegExp(`^(${folders})/[\\w./*-]*$`).test(path));
}

/** Targets of links and images inside the repository. */
function linksOfPage(page: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !link.includes(':')).map((link) => normalize(join(dirname(page), link)));
}

/** Files of the repository that comments name. */
function pathsOfComments(text: string): string[] {
  const comments = text.split('\n').filter((line) => /^\s*(\/\/|\/?\*|#|--)|\s(\/\/|#|--) /.test(line));
  const path = new RegExp(`(?<![\\w./-])(${folders})/[\\w/.-]+\\.(ts|sql|yaml|md|py)\\b`, 'g');
  return comments.flatMap((line) => [...line.matchAll(path)].map(([found]) => found));
}

/** Links to a heading that the page does not have. */
function missingHeadings(page: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)#:\s]*)#([^)\s]+)\)/g)];
  return links.flatMap(([, path = '', heading = '']) => {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!target.endsWith('.md') || !existsSync(join(root, target))) return [];
    const titles = [...readFileSync(join(root, target), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    );
    return titles.includes(heading) ? [] : [`${target}#${heading}`];
  });
}

function missing(paths: string[]): string[] {
  return paths.filter((path) =>
    path.includes('*') ? globSync(path, { cwd: root }).length === 0 : !existsSync(join(root, path)),
  );
}

describe('paths that exist', () => {
  test.each(pages)('%s names', (page) => {
    const text = readFileSync(join(root, page), 'utf8');
    expect(missing([...pathsOfPage(text), ...linksOfPage(page, text)])).toEqual([]);
    expect(missingHeadings(page, text)).toEqual([]);
  });

  test('comments name', () => {
    const stale = sources.flatMap((file) =>
      missing(pathsOfComments(readFileSync(join(root, file), 'utf8'))).map((path) => `${file}: ${path}`),
    );
    expect(stale).toEqual([]);
  });

  test('the check finds a path, a pattern, a link and a comment that are wrong', () => {
    expect(
      missing(pathsOfPage('see `src/nowhere.ts`, `src/terms.ts`, `test/nothing/*.ts` and `npm run src/x`')),
    ).toEqual(['src/nowhere.ts', 'test/nothing/*.ts']);
    expect(
      missing(
        linksOfPage('docs/reference/CLI.md', '[a](NOWHERE.md#x) [b](../../README.md) [c](https://example.org/x)'),
      ),
    ).toEqual(['docs/reference/NOWHERE.md']);
    expect(missingHeadings('docs/reference/CLI.md', '[a](#exit-codes) [b](#nowhere)')).toEqual([
      'docs/reference/CLI.md#nowhere',
    ]);
    expect(missing(pathsOfComments('/** (src/services/x.ts, src/terms.ts) */\nconst a = 1;'))).toEqual([
      'src/services/x.ts',
    ]);
  });
});
