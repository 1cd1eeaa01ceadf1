import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usePreviews, without } from './previews.ts';

const { clinicOf, previewThenPost, happenings } = usePreviews();
type Happening = keyof typeof happenings;

test('over random lives, preview equals what is posted afterwards, and writes nothing', async () => {
  const names = Object.keys(happenings) as Happening[];
  let posted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000 }),
      fc.array(fc.tuple(fc.constantFrom(...names), fc.boolean()), { minLength: 4, maxLength: 7 }),
      async (seed, life) => {
        const clinic = await clinicOf({ seed, invoices: 60, mapping: without('mobile_clearing') });
        await clinic.pull();
        posted += await previewThenPost(clinic);
        for (const [name, rowsAreLate] of life) {
          await happenings[name](clinic);
          await clinic.pull({ withoutRows: rowsAreLate });
          posted += await previewThenPost(clinic, '2026-02-15');
        }
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
  expect(posted).toBeGreaterThan(2_000);
}, 600_000);
