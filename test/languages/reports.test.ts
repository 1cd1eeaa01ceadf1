// Codes of reports are words in the text, and codes in the JSON.
import { beforeAll, expect, test } from 'vitest';
import { reportJson } from '../../src/cli/commands/report-output.ts';
import { reportText } from '../../src/cli/commands/report-text.ts';
import { Money } from '../../src/domain/money.ts';
import { loadLanguage } from '../../src/languages/language.ts';
import type { InstallationReport } from '../../src/reports/installation-report.ts';
import { columnsOf, type Item, section } from '../../src/reports/report-sections.ts';
import type { Language } from '../../src/texts/catalogue.ts';

beforeAll(() => loadLanguage('fi'));

const open = { amounts: { open: new Money('1.00') } };
const item = (keys: Item['keys'], document = 'every entry', facts: Item['facts'] = {}): Item => ({
  ...{ keys, document, facts, ...open },
});
const shape = (name: string, keys: Parameters<typeof columnsOf>, facts: Parameters<typeof columnsOf> = []) => ({
  ...{ name, title: name, keys: columnsOf(...keys), facts: columnsOf(...facts), amounts: columnsOf('open') },
});

const report: InstallationReport = {
  ...{ report: 'r', period: { from: null, through: '2026-01-31' }, of: 'day', recordedBy: null, outside: {} },
  installation: {
    ...{ id: 4711, name: null, currency: 'EUR', decimals: 2, timezone: 'Europe/Helsinki', startDate: null },
  },
  sections: [
    section(shape('accounts', ['account', 'name', 'type']), [
      item({ account: '1900', name: 'cash', type: 'asset' }),
      item({ account: '3000', name: 'Sales of cash', type: 'income' }),
      item({ account: null, name: 'result of earlier fiscal years', type: 'equity' }),
    ]),
    section(shape('vat', ['documents_of', 'kind', 'group'], ['state']), [
      item({ documents_of: 'invoices', kind: 'eu_services', group: 'domestic' }, 'invoice 7', { state: 'posted' }),
    ]),
    section(shape('clients', ['customer', 'name', 'unmatched']), [
      item({ customer: 'client:5', name: 'cash', unmatched: 'payment 3' }),
      item({ customer: 'client:6', name: null, unmatched: 'cancelled payments of invoice 9' }),
    ]),
    section(shape('accounts_of_vat', ['part'], ['is_late']), [
      item({ part: 'changed since' }, 'invoice 7', { is_late: 'late' }),
    ]),
  ],
};

async function textOf(language: Language): Promise<string[]> {
  let all = '';
  for await (const piece of reportText([report], { documents: true, language })) all += piece;
  return all.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
}

test.each<[Language, string[]]>([
  [
    'en',
    [
      ...['1900 | cash | asset | 1.00', '3000 | Sales of cash | income | 1.00'],
      ...['result of earlier fiscal years | equity | 1.00', 'invoices | eu_services | domestic | 1.00'],
      ...['invoice 7 | posted | 1.00', 'client:5 | cash | payment 3 | 1.00'],
      ...['client:6 | client 6 | cancelled payments of invoice 9 | 1.00', 'changed since | 1.00'],
      'invoice 7 | late | 1.00',
    ],
  ],
  [
    'fi',
    [
      ...['1900 | käteinen | vastaavaa | 1.00', '3000 | Sales of cash | tuotto | 1.00'],
      ...['aikaisempien tilikausien tulos | oma pääoma | 1.00', 'laskut | EU-palvelumyynti | domestic | 1.00'],
      ...['lasku 7 | kirjattu | 1.00', 'client:5 | cash | maksu 3 | 1.00'],
      ...['client:6 | asiakas 6 | laskun 9 perutut maksut | 1.00', 'lasku 7 | myöhässä | 1.00'],
    ],
  ],
  [
    'de',
    [
      ...['1900 | Kasse | Aktiva | 1.00', '3000 | Sales of cash | Ertrag | 1.00'],
      ...['Rechnungen | EU-Leistungen | domestic | 1.00', 'Rechnung 7 | gebucht | 1.00'],
      'client:6 | Kunde 6 | stornierte Zahlungen der Rechnung 9 | 1.00',
    ],
  ],
  [
    'sv',
    [
      ...['1900 | kassa | tillgång | 1.00', '3000 | Sales of cash | intäkt | 1.00'],
      ...['fakturor | EU-tjänster | domestic | 1.00', 'faktura 7 | bokförd | 1.00'],
      'client:6 | kund 6 | annullerade betalningar på faktura 9 | 1.00',
    ],
  ],
])('codes in words, in %s', async (language, asked) => {
  expect(await textOf(language)).toEqual(expect.arrayContaining(asked));
});

test('codes in JSON', async () => {
  let json = '';
  for await (const piece of reportJson('r', [report])) json += piece;
  const { accounts, vat, clients } = JSON.parse(json).installations[0].sections;
  expect(accounts.figures[0]).toMatchObject({ name: 'cash', type: 'asset' });
  expect(vat.figures[0]).toMatchObject({
    ...{ documents_of: 'invoices', kind: 'eu_services' },
    documents: [{ document: 'invoice 7', state: 'posted' }],
  });
  expect(clients.figures[1]).toMatchObject({ customer: 'client:6', name: null });
});
