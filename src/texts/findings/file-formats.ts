import { catalogue } from '../catalogue.ts';

/** Messages about entries that a file format cannot hold. */
export const fileFormatFindings = catalogue('findings/file-formats.fileFormatFindings', {
  digitsOnly: ({ format, account }: { format: string; account: string }): string =>
    `${format} accepts only digits in account numbers; this account is ${account}`,

  // DATEV
  tenDigits: 'an amount has more than ten digits before the decimal comma',
  notInPairs:
    'DATEV requires pairs of two different accounts, and the lines of the entry cannot be split into such pairs',
  accountTooLong: ({
    account,
    length,
    partyLength,
  }: {
    account: string;
    length: number;
    partyLength: number;
  }): string =>
    `account ${account} is too long: with account_length ${length}, accounts have at most ${partyLength} digits (those of clients and suppliers)`,
  costCentre: ({ value }: { value: string }): string => `DATEV cannot store the cost centre ${value}`,

  // SIE 4
  dimensionNumber: ({ name }: { name: string }): string =>
    `SIE 4 identifies dimensions by number; the mapping names one ${name}`,
  dimensionValue: ({ value }: { value: string }): string => `SIE 4 cannot store the dimension value ${value}`,
});
