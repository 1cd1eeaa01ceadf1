// The next step of an error leads to a form that its reader may use, or names who can do it.
import { expect, test } from 'vitest';
import { html, pageText } from '../../src/console/html.ts';
import { formsOfCommands, nextStep, withReports } from '../../src/console/parts/next-step.ts';
import { routes } from '../../src/console/routes.ts';
import { permittedActions } from '../../src/console/users/permitted-actions.ts';
import { Rights, type Role } from '../../src/console/users/rights.ts';

test.each(formsOfCommands)('the form of $words exists, and needs the right of its action', ({ kind, path }) => {
  const route = routes.find(
    (each) => each.method === 'GET' && each.path === `/:installation/actions/${path.split('?')[0]}`,
  );
  expect(route?.access).toEqual({ who: permittedActions[kind], in: 'installation' });
});

/** What the form is called where it stands, so that the reader finds the words of the link again. */
const formNames = ['Replay', 'Read now', 'Approve entries', 'Send entries again', 'Deliver now'];
const asks = 'Ask an operator to run the command.';
test.each<[Role, string, string | null, boolean]>([
  ['operator', 'Wait for the next window.', null, false],
  ['viewer', 'Wait for the next window.', null, false],
  ['operator', 'Run `vetledger replay --failed` to read them.', 'read-again?read=failed', false],
  ['accountant', 'Run `vetledger replay --failed` to read them.', null, true],
  ['operator', 'Run `vetledger sync`.', 'read-now', false],
  ['operator', 'Run `vetledger nudge --delivery`.', 'deliver-now', false],
  ['bookkeeper', 'Run `vetledger cancel --delivery`.', null, true],
  ['accountant', 'Run `vetledger deliver --approve --through DATE`.', 'approve', false],
  ['operator', 'Run `vetledger deliver --approve --through DATE`.', null, false],
  ['bookkeeper', 'Open the period in the ERP; then run `vetledger deliver retry`.', 'resend', false],
  ['viewer', 'Run `vetledger deliver retry`.', null, true],
  ['bookkeeper', 'Run `vetledger deliver retry`, then `vetledger doctor`.', 'resend', true],
])('%s: %s', (role, todo, form, asksOperator) => {
  const rights = new Rights([{ role, installation: 4711, until: null }], '2026-03-10');
  const content = nextStep(rights, 4711, todo);
  const text = pageText(content as Parameters<typeof pageText>[0]);
  expect([...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual(
    form === null ? [] : [`/4711/actions/${form}`],
  );
  for (const [, name] of text.matchAll(/>([^<]+)<\/a>/g)) expect(formNames).toContain(name);
  expect(text.includes(asks)).toBe(asksOperator);
});

test.each<[Role, string, string, string[]]>([
  [
    'accountant',
    'Unused (`vetledger report prepayments --as-of 2026-01-31`); `policies.prepayment_vat` posts it.',
    'Unused (Prepayments); `policies.prepayment_vat` posts it.',
    ['/4711/reports/prepayments?as_of=2026-01-31'],
  ],
  [
    'accountant',
    'It changed; `report vat` shows it.',
    'It changed; VAT shows it.',
    ['/4711/reports/vat?month=2026-02'],
  ],
  ['accountant', '`report vat`, `report other`', 'VAT, `report other`', ['/4711/reports/vat?month=2026-02']],
  ['operator', 'It changed; `report vat` shows it.', 'It changed; `report vat` shows it.', []],
])('the reports that a text names are links: %s, %s', (role, text, read, links) => {
  const rights = new Rights([{ role, installation: 4711, until: null }], '2026-03-10');
  const page = pageText(html`<p>${withReports(rights, 4711, text, '2026-02')}</p>`);
  expect([...page.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual(links);
  expect(page.replace(/<[^>]+>/g, '')).toBe(read);
});
