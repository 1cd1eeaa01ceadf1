// A message that was made in English is shown as if it had been made in the language.
import { beforeAll, expect, test } from 'vitest';
import { englishCatalogues } from '../../src/languages/catalogues.ts';
import { inLanguage, loadLanguage, shown } from '../../src/languages/language.ts';
import { isRecognised } from '../../src/languages/recognise.ts';
import { type Template, templatesOf } from '../../src/languages/templates.ts';
import { type ForeignLanguage, translated, translationsInto } from '../../src/languages/translations.ts';
import { deliveryErrors } from '../../src/texts/errors/deliveries.ts';
import { windowErrors } from '../../src/texts/errors/windows.ts';
import { healthCauses } from '../../src/texts/findings/health.ts';
import { sectionTitles, vatReportTexts } from '../../src/texts/reports/reports.ts';
import { cellWords } from '../../src/wording/cells.ts';

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

// Each of these would be a sentence of a catalogue.
const written = 'The mapping is checked.';
const own = { code: 'paused', by: written, reason: written, installation: 1 };
test.each([
  ['paused windows', healthCauses.windowsPaused(own).message, 2],
  ['a paused delivery', healthCauses.deliveryPaused(own).message, 2],
  ['windows that do not open', windowErrors.paused(own).message, 2],
  ['a delivery that does not begin', deliveryErrors.paused(own).message, 2],
  ['the note of a Schedule', healthCauses.schedulePaused({ ...own, note: written }).message, 1],
  ['a filed return', vatReportTexts.filed({ ...own, period: '2026-01', version: 1, at: '2026-02-10' }), 2],
  ['the form of a return', sectionTitles.vatForm({ form: written, of: 'base' }), 1],
])('what people wrote stays as it is: %s', (_, text, times) => {
  for (const language of foreign) {
    const found = shown(text, language);
    expect([found.split(written).length - 1, found === text]).toEqual([times, false]);
  }
});

test.each<[string, string | null, boolean]>([
  ['a box that the mapping names', '301', true],
  ['figures without a box', null, false],
])('the title of %s', (_, box, isWritten) => {
  const title = isWritten ? written : 'in no box of the form: no kind, no rate';
  expect(inLanguage('de', () => cellWords('title', { box, title })) === title).toBe(isWritten);
});
