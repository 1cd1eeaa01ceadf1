// The endpoints that practice-api specifies, read from the tables of its section "Endpoints".

export interface Specified {
  method: string;
  /** With `{id}` for every id, for example `/invoice/{id}/full_refund/`. */
  path: string;
  section: string;
}

/** Rows whose path stands in words, or only in a text: by what the specification says. */
const inWords: Record<string, string[]> = {
  'unallocated payment `external_info.external_id`': ['/unallocatedpayment/{id}/'],
  'invoice object, then its postransactions': ['/invoice/{id}/postransactions/'],
  '`{upload_url}` (returned `url`)': ['{upload_url}'],
};

/** The endpoints of one row: its methods, each with its paths. */
export const endpointsIn = (methods: string, path: string): Omit<Specified, 'section'>[] => {
  const paths = inWords[path.trim()] ?? [...path.matchAll(/(?<=^|[\s,])\/\S*\//g)].map(([match]) => match);
  return methods
    .split(', ')
    .flatMap((method) => paths.map((one) => ({ method, path: one.replace(/\{(?!upload_url)[a-z_]+\}/g, '{id}') })));
};

/** Endpoints of a specification in Markdown. Throws for a row that it cannot read, so that none is left out in silence. */
export function endpointsOf(markdown: string): Specified[] {
  const text = /^## Endpoints$([\s\S]*?)^## /m.exec(markdown)?.[1];
  if (text === undefined) throw new Error('no section "Endpoints"');
  const found: Specified[] = [];
  let section = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('### ')) section = line.slice(4).trim();
    const [, methods, path] = /^\| ([A-Z]+(?:, [A-Z]+)*) \| ([^|]+) \|/.exec(line) ?? [];
    if (methods === undefined || path === undefined) continue;
    const endpoints = endpointsIn(methods, path);
    if (endpoints.length === 0) throw new Error(`a path that cannot be read: ${path}`);
    found.push(...endpoints.map((one) => ({ ...one, section })));
  }
  // Named in a text below a table.
  found.push({ method: 'POST', path: '/appointment_reminder/', section: 'Appointments and online booking' });
  return found;
}
