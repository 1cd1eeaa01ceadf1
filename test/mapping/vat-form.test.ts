// The boxes of the return forms, calculated by hand.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadVatForm, type VatFormCountry, vatFormCountries } from '../../src/config/vat-forms.ts';
import { Money } from '../../src/domain/money.ts';
import { fillForm, vatFormJsonSchema } from '../../src/mapping/vat-form.ts';

const line = (kind: string | null, rate: string | null, base: string, tax = '0') => ({
  ...{ kind, rate, base: new Money(base), tax: new Money(tax) },
});

/** Each box as `box of: on the form, in the books`. */
function filled(country: VatFormCountry, lines: ReturnType<typeof line>[]) {
  return fillForm(loadVatForm(country), lines).map(
    ({ box, title, of, form, books }) =>
      `${box ?? (title === null ? 'no box' : 'not on the form')} ${of}: ${form?.toFixed(2) ?? '-'}, ${books.toFixed(2)}`,
  );
}

const sales = [line('eu_goods', '0', '200.75'), line('eu_services', '0', '300.25'), line('export', '0', '400.99')];
const rest = [line('exempt', '0', '50.50'), line('outside', '0', '60.60'), line('reverse_charge', '0', '70.70')];

test.each<[VatFormCountry, string, ReturnType<typeof line>[], string[]]>([
  [
    'fi',
    'tax by rate to the cent, old and new rates together; exempt sales are not on the form',
    [
      line('domestic', '25.5', '1000.10', '255.03'),
      line('domestic', '24', '-100', '-24.00'),
      line('domestic', '13.5', '200', '27.00'),
      line('domestic', '14', '100', '14.00'),
      line('domestic', '10', '10', '1.00'),
      line('domestic', '0', '1.01'),
      ...[...sales, ...rest],
    ],
    [
      '301 tax: 231.03, 231.03',
      '302 tax: 41.00, 41.00',
      '303 tax: 1.00, 1.00',
      '309 base: 402.00, 402.00',
      '311 base: 200.75, 200.75',
      '312 base: 300.25, 300.25',
      '319 base: 70.70, 70.70',
      'not on the form base: -, 50.50',
      'not on the form base: -, 60.60',
    ],
  ],
  [
    'de',
    'bases in whole euros, tax computed from them; other rates with their tax',
    [
      line('domestic', '19', '1000.99', '190.20'),
      line('domestic', '19', '0.50', '0.10'),
      line('domestic', '7', '-10.99', '-0.77'),
      line('domestic', '16', '100.99', '16.16'),
      ...[...sales, ...rest],
    ],
    [
      '81 base: 1001.00, 1001.49',
      '81 tax: 190.19, 190.30',
      '86 base: -10.00, -10.99',
      '86 tax: -0.70, -0.77',
      '35 base: 100.00, 100.99',
      '36 tax: 16.16, 16.16',
      '41 base: 200.00, 200.75',
      '43 base: 400.00, 400.99',
      '48 base: 50.00, 50.50',
      '60 base: 70.00, 70.70',
      '21 base: 300.00, 300.25',
      'not on the form base: -, 60.60',
    ],
  ],
  [
    'se',
    'whole kronor, öre dropped; one base and tax by rate',
    [
      line('domestic', '25', '1000.99', '250.25'),
      line('domestic', '12', '100.99', '12.12'),
      line('domestic', '6', '10.99', '0.66'),
      ...[...sales, ...rest],
    ],
    [
      '05 base: 1112.00, 1112.97',
      '10 tax: 250.00, 250.25',
      '11 tax: 12.00, 12.12',
      '12 tax: 0.00, 0.66',
      '35 base: 200.00, 200.75',
      '36 base: 400.00, 400.99',
      '39 base: 300.00, 300.25',
      '41 base: 70.00, 70.70',
      '42 base: 50.00, 50.50',
      'not on the form base: -, 60.60',
    ],
  ],
  [
    'fi',
    'what no box takes is named by kind and rate; tax that no tax box takes, too',
    [
      line('domestic', '24.5', '10', '2.45'),
      line(null, '24', '20', '4.80'),
      line(null, '24', '1', '0.24'),
      line('reverse_charge', '25.5', '5', '1.28'),
    ],
    [
      '319 base: 5.00, 5.00',
      'no box base: -, 10.00',
      'no box base: -, 21.00',
      'no box tax: -, 2.45',
      'no box tax: -, 5.04',
      'no box tax: -, 1.28',
    ],
  ],
  ['se', 'a return without sales has no boxes', [], []],
])('%s: %s', (country, _, lines, expected) => expect(filled(country, lines)).toEqual(expected));

/**
 * What the authorities' documents say about the boxes for sales: the document's own name or line of the box, whether it has
 * the net amount or the tax, and whole units or cents. `computed`: the form has no column for this tax.
 */
const official: Record<
  VatFormCountry,
  [box: string, theirs: string, of: 'base' | 'tax', round: string, rates?: string][]
> = {
  // Verohallinto, description of the data file VSRALVKV (A86/200/2016, version 1.10). All amounts are euros and cents.
  fi: [
    ['301', 'Vero kotimaan myynnistä, yleinen verokanta', 'tax', 'cent', '25.5 24'],
    ['302', 'Vero kotimaan myynnistä, suurempi alennettu verokanta', 'tax', 'cent', '13.5 14'],
    ['303', 'Vero kotimaan myynnistä, pienempi alennettu verokanta', 'tax', 'cent', '10'],
    ['309', '0-verokannan alainen liikevaihto', 'base', 'cent', '0'],
    ['311', 'Tavaroiden myynnit muihin EU-maihin', 'base', 'cent'],
    ['312', 'Palveluiden myynnit muihin EU-maihin', 'base', 'cent'],
    ['319', 'Rakentamispalvelun ja metalliromun myynnit', 'base', 'cent'],
  ],
  // BMF, Vordruckmuster USt 1 A 2026 (2025-12-29, III C 3 - S 7344/00039/007/036), by line.
  de: [
    ['81', 'Zeile 13', 'base', 'unit', '19'],
    ['81', 'Zeile 13', 'tax', 'computed', '19'],
    ['86', 'Zeile 14', 'base', 'unit', '7'],
    ['86', 'Zeile 14', 'tax', 'computed', '7'],
    ['87', 'Zeile 15', 'base', 'unit', '0'],
    ['35', 'between Zeile 15 and 19', 'base', 'unit', '16 5'],
    ['36', 'between Zeile 15 and 19', 'tax', 'cent', '16 5'],
    ['41', 'Zeile 19', 'base', 'unit'],
    ['43', 'Zeile 22', 'base', 'unit'],
    ['48', 'Zeile 23', 'base', 'unit'],
    ['60', 'before Zeile 35', 'base', 'unit'],
    ['21', 'Zeile 35', 'base', 'unit'],
  ],
  // Skatteverket, file eSKDUpload 6.0 of the form SKV 4700. All amounts are whole kronor.
  se: [
    ['05', 'ForsMomsEjAnnan', 'base', 'unit', '25 12 6'],
    ['10', 'MomsUtgHog', 'tax', 'unit', '25'],
    ['11', 'MomsUtgMedel', 'tax', 'unit', '12'],
    ['12', 'MomsUtgLag', 'tax', 'unit', '6'],
    ['35', 'ForsVaruAnnatEg', 'base', 'unit'],
    ['36', 'ForsVaruUtomEg', 'base', 'unit'],
    ['39', 'ForsTjSkskAnnatEg', 'base', 'unit'],
    ['41', 'ForsKopareSkskSverige', 'base', 'unit'],
    ['42', 'ForsOvrigt', 'base', 'unit'],
  ],
};

test.each(vatFormCountries)('%s: the boxes are those of the authority’s document, in its order', (country) => {
  const found = loadVatForm(country).boxes.flatMap(({ box, of, round, computed, rates }) =>
    box === null ? [] : [[box, of, computed ? 'computed' : round, rates?.join(' ')]],
  );
  expect(found).toEqual(official[country].map(([box, , of, round, rates]) => [box, of, round, rates]));
});

test('every amount of tax is in a box or named', () => {
  const lines = [line('domestic', '25', '8', '2'), line('domestic', '24', '8', '1.92'), line(null, null, '1', '0.20')];
  for (const country of vatFormCountries) {
    const tax = fillForm(loadVatForm(country), lines).filter(({ of }) => of === 'tax');
    expect(tax.reduce((sum, { books }) => sum.plus(books), new Money(0)).toFixed(2)).toBe('4.12');
  }
});

test('the JSON schema is that of the code', () => {
  const stored = JSON.parse(readFileSync(new URL('../../mappings/vat-form.schema.json', import.meta.url), 'utf8'));
  expect(stored).toEqual(JSON.parse(JSON.stringify(vatFormJsonSchema())));
  expect(z.fromJSONSchema(stored).safeParse({ name: 'x', country: 'FI', boxes: [] }).success).toBe(false);
});
