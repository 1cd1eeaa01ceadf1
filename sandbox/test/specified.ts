// Reads the endpoints from the tables in the section "Endpoints" of practice-api.

export interface Specified {
  method: string;
  /** The path with `{id}` for every id, for example `/invoice/{id}/full_refund/`. */
  path: string;
  section: string;
}

/** The paths of rows that describe their path in words. */
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

/** The endpoints of a specification in Markdown. Throws for a row that it cannot read, so that no row is ignored. */
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
  // A sentence below a table names this endpoint.
  found.push({ method: 'POST', path: '/appointment_reminder/', section: 'Appointments and online booking' });
  return found;
}
