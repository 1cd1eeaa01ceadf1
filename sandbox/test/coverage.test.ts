// Every endpoint of the specification has a test, and CHOICES.md and EVIDENCE.md are up to date.
import { expect, test } from 'vitest';
import { missing, pages, pageText, traced } from './coverage.ts';
import { endpointsOf } from './specified.ts';

const timeoutMs = 600_000;

test(
  'every endpoint of the specification is served and has a test; the pages name them (node sandbox/test/coverage.ts writes them)',
  () => {
    const coverage = traced();
    expect(coverage.failed).toEqual([]);
    expect(missing(coverage)).toEqual([]);
    for (const [name, text] of Object.entries(pages(coverage))) expect(pageText(name)).toBe(text);
  },
  timeoutMs,
);

test('the endpoints are read from the tables of a specification', () => {
  const markdown = [
    '## Endpoints',
    '### Clients',
    '| Method | Path | Payload | Response |',
    '| --- | --- | --- | --- |',
    '| GET, POST | /client/{client_id}/notes/ | - | - |',
    '| GET | /codelist/a/, /codelist/b/ | | |',
    '## Errors',
    '| GET | /no/ | | |',
  ].join('\n');
  expect(endpointsOf(markdown).slice(0, 4)).toEqual([
    { method: 'GET', path: '/client/{id}/notes/', section: 'Clients' },
    { method: 'POST', path: '/client/{id}/notes/', section: 'Clients' },
    { method: 'GET', path: '/codelist/a/', section: 'Clients' },
    { method: 'GET', path: '/codelist/b/', section: 'Clients' },
  ]);
  expect(() => endpointsOf('## Endpoints\n| GET | somewhere | | |\n## Errors')).toThrow('cannot be read');
});
