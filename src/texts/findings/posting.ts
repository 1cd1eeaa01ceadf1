/** Messages of problems and remarks on the documents that posting judges. */
export const postingFindings = {
  missingInSource: ({ name, since, evidence }: Record<'name' | 'since' | 'evidence', string>): string =>
    `${name}: the source’s list has not shown it since ${since}; ${evidence}; it stays posted`,
  noRecordForId: 'a request for its id returned no record',
  idNotRequested: 'its id was not requested',
  missingRows: ({ name, noun, rows }: Record<'name' | 'noun' | 'rows', string>): string =>
    `${name}: the source no longer shows its ${noun} ${rows}, and its \`modified\` has not changed; it stays posted`,
  row: 'row',
  rows: 'rows',
  andMore: ({ few, more }: { few: string; more: number }): string => `${few} and ${more} more`,
  payerNameChanged: ({ entryId }: { entryId: string }): string =>
    `the payer’s name in the source differs from the name in ${entryId}`,
};
