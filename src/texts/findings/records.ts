import { catalogue } from '../catalogue.ts';

/**
 * Defects of a record of the source, or of one of its fields. Texts about a field end the sentence "<field> …". Texts
 * about a record that has no usable id end the sentence "record 7 of the page …: ".
 */
export const recordTexts = catalogue('findings/records.recordTexts', {
  // A field
  missing: 'is missing',
  notADecimal: 'is not a decimal number',
  notAnInteger: 'is not an integer',
  notAnId: 'is not a positive integer',
  notAFlag: 'is neither true nor false',
  notAText: 'is not a text',
  notAReference: 'is not a reference to a record',
  notReferences: 'is not a list of references to records',
  foreign: 'refers to another installation or another resource',
  tooManyDigits: ({ most }: { most: number }): string => `is a number of more than ${most} digits`,
  statusUnknown: ({ value }: { value: string }): string => `is an unknown status (${value})`,
  withValue: ({ message, value }: { message: string; value: string }): string => `${message} (${value})`,

  // A record that is too large
  wholeRecord: 'the record',
  tooLarge: ({ reason, removed }: { reason: string; removed: string }): string =>
    `is too large (${reason})${removed === '' ? '' : `; these fields were removed: ${removed}`}`,
  tooLargeUnexplained: 'is too large',
  tooManyCharacters: ({ found, most }: { found: number; most: number }): string =>
    `${found} characters; the limit is ${most}`,
  tooManyValues: ({ most }: { most: number }): string => `more than ${most} values`,
  tooManyRecords: ({ most }: { most: number }): string => `more than ${most} records`,
  tooDeep: ({ most }: { most: number }): string => `nested more than ${most} levels deep`,

  // A record without a usable id
  notARecord: ({ found }: { found: string }): string => `it is ${found}, not a record`,
  withoutId: ({ outline }: { outline: string }): string => `it has no id (${outline})`,
  idUnusable: ({ id, outline }: { id: string; outline: string }): string =>
    `its id is ${id}, not a positive integer (${outline})`,
  foreignRecord: ({ url, outline }: { url: string; outline: string }): string =>
    `its url names another installation or another resource (${url}; ${outline})`,
});

/** Names of JSON types. */
export const jsonTypes = catalogue('findings/records.jsonTypes', {
  list: 'a list',
  text: 'a text',
  flag: 'true or false',
  number: 'a number',
});
