import { catalogue } from '../catalogue.ts';

/** The screen To decide. */
export const decideTexts = catalogue('console/decide.decideTexts', {
  byCode: 'Held, late, missing or refused',
  none: 'Nothing is held, late, missing or refused.',
  documents: 'Documents',
  remarks: 'Remarks about posted documents',
  count: 'documents',
  age: 'age in days',
  todo: 'what to do',
  reason: 'why, and what each decision does',
  options: 'What each decision would do',
  keptOut: 'nothing is posted now, and these amounts stay out of the books',
  changed: 'The document has changed. The next window judges it again, and then its effects are shown.',
  decideChosen: 'Decide about the chosen documents',
  retryChosen: 'Judge the chosen documents again',
  decideAll: 'Decide about all late documents of this filter',
  retryAll: ({ all }: { all: number }) => `Judge all of this filter again (${all})`,
  unread: ({ fields }: { fields: string }) =>
    `These fields of the filter cannot be read, so they are left out: ${fields}.`,
});

/** The fields of the filter. */
export const decideFields = catalogue('console/decide.decideFields', {
  q: 'Search',
  code: 'Code',
  month: 'Month',
  account: 'Account',
  department: 'Department',
  least: 'Amount at least',
  most: 'Amount at most',
  decided: 'Decided',
});
