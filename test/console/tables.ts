/** A table of a page: the texts of its cells. */
export interface ShownTable {
  rows: string[][];
  total: string[];
}

export function tablesIn(body: string): ShownTable[] {
  return [...body.matchAll(/<table>([\s\S]*?)<\/table>/g)].map(([, table = '']) => ({
    rows: rowsIn(/<tbody>([\s\S]*)<\/tbody>/.exec(table)?.[1] ?? ''),
    total: rowsIn(/<tfoot>([\s\S]*)<\/tfoot>/.exec(table)?.[1] ?? '')[0] ?? [],
  }));
}

function rowsIn(part: string): string[][] {
  return [...part.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = '']) => textOf(cell.replace(/<[^>]+>/g, ''))),
  );
}

/** The addresses of the links in the content of a page. */
export function linksIn(body: string): string[] {
  const content = /<main[\s\S]*<\/main>/.exec(body)?.[0] ?? '';
  return [...content.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => textOf(href));
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function textOf(escaped: string): string {
  return escaped.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '').trim();
}
