// A message that was made in English is shown as if it had been made in the language.
import { beforeAll, expect, test } from 'vitest';
import { englishCatalogues } from '../../src/languages/catalogues.ts';
import { loadLanguage, shown } from '../../src/languages/language.ts';
import { isRecognised } from '../../src/languages/recognise.ts';
import { type Template, templatesOf } from '../../src/languages/templates.ts';
import { type ForeignLanguage, translated, translationsInto } from '../../src/languages/translations.ts';

beforeAll(() => loadLanguage('fi'));

const foreign: ForeignLanguage[] = ['fi', 'de', 'sv'];
const templates = [...englishCatalogues]
  .filter(([name]) => isRecognised(name))
  .flatMap(([name, texts]) => templatesOf(name, texts));

/** The English text of a form, with a number for each parameter, in order. */
function filled({ literals }: Template, values: readonly string[]): string {
  return literals.map((literal, at) => `${literal}${values[at] ?? ''}`).join('');
}

test.each(foreign)('every form of every text of the catalogue, in %s', (language) => {
  const texts = translationsInto(language);
  const alike = Map.groupBy(
    templates.filter(({ key }) => texts.has(key)),
    ({ literals }) => JSON.stringify(literals),
  );
  const wrong = [...alike.values()].flatMap((same) => {
    const [one] = same;
    const values = one!.holes.map((_, at) => `${(at + 2) * 17}`);
    // Two entries may have the same English text.
    const right = same.map(({ key, holes, fixed }) =>
      translated(language, key, { ...fixed, ...Object.fromEntries(holes.map((name, at) => [name, values[at]])) }),
    );
    const found = shown(filled(one!, values), language);
    return right.includes(found) || !/\p{L}/u.test(filled(one!, values))
      ? []
      : [{ key: one!.key, found, right: right[0] }];
  });
  expect(wrong).toEqual([]);
});

test('the name of a VAT group stays as users wrote it', () => {
  const text =
    'VAT group VAT 10 % at 10 % is valid 2013-01-01 to 2024-12-31, but the date of the document for VAT is 2025-12-04';
  expect(shown(text, 'fi')).toMatch(/^alv-ryhmä VAT 10 %, 10 % on voimassa 2013-01-01 – 2024-12-31, mutta/);
  expect(shown(text, 'sv')).toMatch(/^momsgrupp VAT 10 % med 10 % gäller/);
});

test.each([
  ['Run `vetledger mapping check --help` to see how to use it.', /^Suorita `vetledger mapping check --help`/],
  ['rows -40.00 net, total -40.00; rows 1.00 VAT, total 1.00', /^rivit -40\.00 verotonta, .*; rivit 1\.00 alv/i],
])('code stays as it is, and parts of proofs are translated: %s', (text, asked) => {
  expect(shown(text, 'fi')).toMatch(asked);
});
