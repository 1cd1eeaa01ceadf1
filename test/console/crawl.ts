const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (escaped: string) =>
  escaped.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');

/** Every address that a page names: of links, forms, images and scripts, or for a refresh. */
export function addressesIn(body: string): string[] {
  return [...body.matchAll(/\s(?:href|src|action|formaction|srcset|data|poster|content)="([^"]*)"/g)].flatMap(
    ([whole, value = '']) => (whole.trim().startsWith('content=') && !/url=/i.test(value) ? [] : plain(value)),
  );
}

/** Addresses that differ only in numbers or values show the same kind of page. */
const shapeOf = (address: string) => {
  const [path = '', query = ''] = address.split('?');
  return `${path.replace(/\d+/g, '0')}?${[...new URLSearchParams(query).keys()].sort().join('&')}`;
};

/** Follows the links of pages from these addresses, at most `perShape` of each kind. Returns the pages by address. */
export async function crawl(
  get: (address: string) => Promise<{ statusCode: number; body: string }>,
  starts: readonly string[],
  perShape = 1,
): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const seen = new Map<string, number>();
  const open = [...starts];
  for (let address = open.shift(); address !== undefined; address = open.shift()) {
    const shape = shapeOf(address);
    const before = seen.get(shape) ?? 0;
    if (pages.has(address) || before >= perShape) continue;
    seen.set(shape, before + 1);
    const { statusCode, body } = await get(address);
    if (statusCode !== 200) continue;
    pages.set(address, body);
    open.push(...addressesIn(body).flatMap((each) => (/^\/(?!static\/)/.test(each) ? (each.split('#')[0] ?? []) : [])));
  }
  return pages;
}
