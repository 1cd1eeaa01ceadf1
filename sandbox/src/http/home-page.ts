// The web page at `/`. It needs no JavaScript and loads no other resource.
import { escaped } from '../online/pay-page.ts';
import type { Overview, ShownInstallation } from './overview.ts';

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --line: color-mix(in srgb, currentColor 20%, transparent); }
  body { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
  h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
  p { margin: .25rem 0; } nav a { margin-right: 1rem; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .5rem 0; }
  dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
  code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
  .wide { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; font-size: .9rem; }
  th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line); }
  th { font-weight: 600; border-top: 0; opacity: .7; white-space: nowrap; }
  td code { overflow-wrap: normal; }
  .bad { color: light-dark(#b3261e, #ff9d94); }
  .none { opacity: .7; }
  @media (max-width: 34rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .4rem; } }
`;

/** Renders the page of an overview. */
export const homePage = ({ links, installations, more }: Overview): string => `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Practice sandbox</title><style>${style}</style></head>
<body>
<header><h1>Practice sandbox</h1>
<p>Invented clinics with the practice API. Reload the page to see what happened since.</p>
<nav>${[
  link(links.docs, 'API in the browser'),
  link(links.schema, 'API as OpenAPI'),
  link(links.control_schema, 'Control as OpenAPI'),
  link(links.health, 'Health'),
].join(' ')}</nav></header>
<main>
${installations.map(section).join('\n')}
${more === 0 ? '' : `<p>${more} more installations are not shown.</p>`}
</main>
</body>
</html>
`;

const section = (one: ShownInstallation): string => {
  const { installation, api, token_url, clock, records, scenario, quirks, faults, links } = one;
  const facts: [string, string][] = [
    ['Base address', code(api)],
    ['Tokens from', code(token_url)],
    [
      'Clock',
      escaped(
        `${clock.local.slice(0, 19).replace('T', ' ')} in ${clock.timezone}${clock.runs ? '' : ', standing still'}`,
      ),
    ],
    [
      'Records',
      Object.entries(records)
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
    ],
    ['Scenario', scenario === null ? none('none') : escaped(scenario)],
    ['Quirks', members(quirks, 'all as by default')],
    ['Faults', members(faults, 'none')],
  ];
  return `<section>
<h2>Installation ${installation}</h2>
<dl>${facts.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`).join('')}</dl>
<nav>${[
    link(links.requests, 'Requests'),
    link(links.webhook_attempts, 'Webhook attempts'),
    link(links.messages, 'Messages'),
    link(links.stats, 'Limits'),
  ].join(' ')}</nav>
<h3>Applications</h3>
${applications(one)}
<h3>Newest requests</h3>
${requests(one)}
<h3>Newest webhook attempts</h3>
${attempts(one)}
</section>`;
};

const applications = (one: ShownInstallation): string =>
  table(
    ['Name', 'Token', 'Client id', 'Client secret', 'Scopes'],
    one.applications.map(({ name, token, client_id, client_secret, scopes }) => [
      escaped(name),
      token === null ? none('from the token endpoint') : code(token),
      code(client_id),
      code(client_secret),
      escaped(scopes.join(', ')),
    ]),
    '',
  );

const requests = ({ requests, installation }: ShownInstallation): string =>
  table(
    ['UTC', 'Status', 'Request', 'Application', 'ms'],
    requests.map((one) => {
      const path = one.path.replace(`/${installation}/api/0.1/`, '/');
      const notes = [
        ...one.faults.map((fault) => `fault ${fault}`),
        ...(one.nearest === null ? [] : [`nearest: ${one.nearest}`]),
      ];
      const query = one.query === '' ? '' : `?${one.query}`;
      return [
        time(one.at),
        status(one.status, one.duration_ms === null ? 'waits' : 'no answer', one.status !== null && one.status < 400),
        [code(`${one.method} ${shortened(path + query)}`), ...notes.map(escaped)].join('<br>'),
        escaped(one.application ?? '–'),
        one.duration_ms === null ? '' : String(one.duration_ms),
      ];
    }),
    'No request yet.',
  );

const attempts = (one: ShownInstallation): string =>
  table(
    ['UTC', 'Status', 'Webhook', 'Attempt', 'Sent to', 'ms'],
    one.webhook_attempts.map((attempt) => [
      time(attempt.at),
      status(
        attempt.status,
        attempt.error ?? '',
        attempt.status !== null && attempt.status >= 200 && attempt.status < 300,
      ),
      `${escaped(attempt.event ?? `trigger ${attempt.trigger}`)}<br>${code(shortened(attempt.body))}`,
      `${attempt.attempt}${attempt.redelivery_of === null ? '' : ` (again ${attempt.redelivery_of})`}`,
      code(shortened(attempt.url)),
      String(attempt.duration_ms),
    ]),
    'No webhook was sent yet.',
  );

/** Renders a table of HTML cells, newest row first. */
const table = (head: readonly string[], rows: readonly (readonly string[])[], empty: string): string =>
  rows.length === 0
    ? `<p>${none(empty)}</p>`
    : `<div class="wide"><table><thead><tr>${head.map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((html) => `<td>${html}</td>`).join('')}</tr>`).join('\n')}</tbody></table></div>`;

const maxShown = 160;
const shortened = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
const code = (text: string): string => `<code>${escaped(text)}</code>`;
const none = (text: string): string => `<span class="none">${escaped(text)}</span>`;
const link = (url: string, text: string): string => `<a href="${escaped(url)}">${escaped(text)}</a>`;
const time = (at: string): string => `<time datetime="${escaped(at)}">${escaped(at.slice(11, 19))}</time>`;
const status = (code: number | null, otherwise: string, isGood: boolean): string =>
  `<span${isGood ? '' : ' class="bad"'}>${escaped(code === null ? otherwise : String(code))}</span>`;

/** Renders the settings that differ from their defaults, one per line. */
const members = (object: object, empty: string): string =>
  Object.keys(object).length === 0
    ? none(empty)
    : Object.entries(object)
        .map(([name, value]) => code(`${name}: ${JSON.stringify(value)}`))
        .join('<br>');
