import { catalogue } from '../catalogue.ts';

/** Texts of `vetledger preview` about the next window. */
export const previewTexts = catalogue('commands/preview.previewTexts', {
  title: ({ installation, mapping }: { installation: number; mapping: string }) =>
    `Installation ${installation}, mapping ${mapping}\nWhat the next window would post of the present data:`,
  changes: 'What this mapping would change in the books (`vetledger repost` posts it when it is configured):',
  wouldBeHeld: ({ id, code }: { id: string; code: string }) => `${id}  would be held: ${code}`,
  wouldStay: ({ entry }: { entry: string }) => `; ${entry} would stay in force`,
  partsFirst: ({ id }: { id: string }) =>
    `${id}  its parts would be read again first; this result uses the present data`,
  nothing: 'Nothing waits: the next window would post only changes in the source since the last one.',
  wouldBePosted: ({ entries }: { entries: string }) => `${entries} would be posted`,
  amongThem: ({ reversals }: { reversals: string }) => `, ${reversals} among them`,
  keptBack: ({ problems }: { problems: string }) => `kept back: ${problems}`,
  fetchedFirst: ({ documents }: { documents: number }) => `${documents} fetched again first`,
  states: ({ states }: { states: string }) => `The documents would then be: ${states}.`,
  held: ({ documents }: { documents: string }) => ` ${documents} in all would have a problem (\`vetledger problems\`).`,
});
