import { catalogue } from '../catalogue.ts';

/** Defects of the seals of an installation's books. */
export const sealTexts = catalogue('findings/chain.sealTexts', {
  notContained: ({ n, at, seq }: { n: number; at: string; seq: number }) =>
    `the chain does not contain the head that seal ${n} of ${at} signed (entry ${seq} of the chain)`,
  none: 'there is no seal',
  missing: ({ n }: { n: number }): string => `seal ${n} is missing`,
  notSigned: ({ n }: { n: number }): string => `seal ${n} is not signed by this key`,
});

/**
 * Defects that `vetledger ledger verify` finds in the chains of an installation. The messages follow the name of an
 * entry.
 */
export const chainFindings = catalogue('findings/chain.chainFindings', {
  // Names
  close: ({ kind, through }: Record<'kind' | 'through', string>): string => `${kind} through ${through}`,
  seal: ({ n }: { n: number }): string => `seal ${n}`,
  outbox: 'the outbox',
  entry: 'entry',
  dailySummary: 'daily summary',

  // The chain of entries and closes
  missing: ({ expected, found }: { expected: number; found: number }): string =>
    `entry ${expected} of the chain is missing; the next entry is ${found}`,
  wrongPrevious: 'it does not follow the previous entry',
  wrongContent: 'its content differs from what was posted',
  wrongCount: 'its number of earlier entries is wrong',
  wrongId: 'its id does not fit its document',
  missingEnd: ({ by }: { by: string }): string => `${by} names this entry, but it is not in the ledger`,
  wrongSealed: ({ seq }: { seq: number }): string =>
    `entry ${seq} of the chain differs from the entry that this seal signed`,
  beyondEnd: ({ unit, seq }: { unit: string; seq: number }): string =>
    `it contains ${unit} ${seq}, but that is not in the ledger`,
  wrongAction: 'the recorded action differs from the action that closed the books',

  vatReturn: ({ period, version }: { period: string; version: number }): string =>
    `VAT return ${period}, version ${version}`,
  wrongReturn: 'its stored lines differ from those that were filed',

  // The sums of days that reports read instead of lines
  sumsOfDay: ({ day, account }: Record<'day' | 'account', string>): string =>
    `the sums of account ${account} on ${day}`,
  wrongSums: 'they are not the sums of the lines in the journal',
  entriesOfMapping: ({ hash }: { hash: string }): string => `the number of entries under mapping ${hash}`,
  wrongEntries: 'it is not the number of these entries in the journal',

  // The numbers of settled entries that lists show
  settledOnDay: ({ day, state }: Record<'day' | 'state', string>): string =>
    `the number of entries in the state ${state} on ${day}`,
  wrongNumber: 'it is not the number of these entries in the outbox',

  // The chain of daily summaries
  missingSummary: ({ expected, found }: { expected: number; found: number }): string =>
    `daily summary ${expected} is missing; the next daily summary is ${found}`,
  wrongPreviousSummary: 'it does not follow the previous daily summary',
  wrongSummary: 'its lines or entries differ from those that were recorded',
  changedSinceClose: ({ through }: { through: string }): string =>
    `it has changed since the books were closed through ${through}`,
  missingSummaries: ({ first, last }: { first: number; last: number }): string =>
    `daily summaries ${first} to ${last} are missing; they existed when the books were closed`,
});

/** Messages of a LedgerError. */
export const ledgerErrors = catalogue('findings/chain.ledgerErrors', {
  unsound: ({ document, defect }: Record<'document' | 'defect', string>): string =>
    `the entry for ${document}: ${defect}`,
  notReversible: ({ entryId, document }: Record<'entryId' | 'document', string>): string =>
    `${entryId} is not an entry of ${document} that can be reversed`,
  alreadyInForce: ({ document, entryId }: Record<'document' | 'entryId', string>): string =>
    `${document} already has the entry ${entryId} in force, which must be reversed first`,
  entryMissing: ({ entryId }: { entryId: string }): string => `the ledger has no entry ${entryId}`,
  summaryMissing: ({ summaryId }: { summaryId: string }): string => `the ledger has no daily summary ${summaryId}`,
});
