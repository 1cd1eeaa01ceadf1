import { catalogue } from '../catalogue.ts';

/** Messages of problems that keep a unit of the general ledger from the ERP. */
export const deliveryFindings = catalogue('findings/delivery.deliveryFindings', {
  // The mapping
  journalUnmapped: ({ kind }: { kind: string }): string =>
    `the mapping has no erp.journals.${kind} and no erp.journals."*"`,
  groupAtRate: ({ group, rate }: { group: string; rate: string }): string => `VAT group ${group} at ${rate} %`,
  groupWithoutRate: ({ group }: { group: string }): string => `VAT group ${group} without rate`,
  noGroupAtRate: ({ rate }: { rate: string }): string => `rows at ${rate} % that name no VAT group`,
  noGroupWithoutRate: 'rows without rate that name no VAT group',
  vatCodeUnmapped: ({ vat }: { vat: string }): string => `the mapping has no erp.vat_codes for ${vat}`,
  dimensionUnmapped: ({ dimension, value }: { dimension: string; value: string }): string =>
    `the mapping has no erp.dimensions.${dimension}.values for ${value}`,
  partyUnmapped: ({ account }: { account: string }): string =>
    `a line on account ${account} needs a party, and erp.collective_party is not set`,
  collectivePartyMissing: 'erp.collective_party is not set',
  documentsOfKind: ({ kind }: { kind: string }): string => `documents of the kind ${kind}`,

  // Limits of the ERP
  tooManyLines: ({ lines, most }: { lines: number; most: number }): string =>
    `the entry has ${lines} lines; the ERP accepts at most ${most}`,
  noRoomForKey: ({ most }: { most: number }): string =>
    `the ERP accepts at most ${most} characters, too few for the unit’s id and the key`,
  tooManyBytes: ({ bytes, most }: { bytes: number; most: number }): string =>
    `the entry has about ${bytes} bytes; the ERP accepts at most ${most}`,
  tooManyRows: ({ rows, most }: { rows: number; most: number }): string =>
    `the entry has ${rows} rows; a file can have at most ${most}`,
  tooManyDecimals: ({ amount, most }: { amount: string; most: number }): string =>
    `the amount ${amount} has more than ${most} decimals`,
  tooManyParties: ({ parties }: { parties: string }): string =>
    `the entry names the parties ${parties}; the ERP accepts one party per entry`,
  tooManyDimensions: ({ n, most }: { n: number; most: number }): string =>
    `a line has ${n} dimensions; the ERP accepts at most ${most}`,
  and: ' and ',

  // VAT that the ERP computes
  vatNotComputable: ({ code, base, tax }: { code: string; base: string; tax: string }): string =>
    `no division of the base ${base} makes the ERP compute the VAT ${tax} of the tax code ${code}`,
  vatWithoutSale: ({ code, tax }: { code: string; tax: string }): string =>
    `the entry has VAT ${tax} of the tax code ${code} without a sale, and the ERP computes VAT only on sales`,
  vatOnAccounts: ({ code, accounts }: { code: string; accounts: string }): string =>
    `the VAT of the tax code ${code} is on the accounts ${accounts}, and the ERP posts it on one account`,
  vatNotSame: 'the ERP would post other parties or dimensions on the VAT lines',

  // Dates
  periodMissing: ({ date }: { date: string }): string => `the ERP has no period for ${date}`,
  periodClosed: ({ kind, date }: { kind: string; date: string }): string =>
    `the ERP’s period (${kind}) of ${date} is closed`,
  periodClosedBefore: ({ date }: { date: string }): string =>
    `the ERP’s period of ${date} was closed before the entry was sent`,

  // Results of a look-up
  doubled: ({ numbers }: { numbers: string }): string => `the ERP has the entry as ${numbers}`,
  draftDeleted: ({ differences }: { differences: string }): string =>
    `${differences}. It was a draft, and is deleted in the ERP; \`vetledger deliver retry\` sends the entry again`,
  voided: 'the entry is void in the ERP',
  draftGone: 'the draft is no longer in the ERP, and no posted entry has its key',
  unseen: 'the ERP accepted the entry, but did not show it when vetledger read it back',
  noAnswer: 'a request to create the entry ended without an answer',
  companyChanged: 'vetledger sent the entry to the company that was configured before; that company may have it',
  postedElsewhere: ({ last }: { last: string }): string =>
    `another database has posted later entries of this document; the last is ${last}`,
  numbered: ({ unitId, number }: { unitId: string; number: string }): string => `${unitId} as ${number}`,
  batchDiffers: ({ batch }: { batch: string }): string =>
    `batch ${batch}, which was handed over before the database was restored, has other content for this entry`,

  // Open items
  matchRefused: ({ reason }: { reason: string }): string => `the ERP refuses to match the lines: ${reason}`,
  matchFailed: ({ reason }: { reason: string }): string => `the lines could not be matched: ${reason}`,
  matchedByHand: ({ units }: { units: string }): string =>
    `in the ERP, a user matched lines of ${units} with other lines; vetledger does not change that match`,
});

/** Messages about entries in the ERP that have no unit of ours, or differ from it. E7 shows them. */
export const erpBookFindings = catalogue('findings/delivery.erpBookFindings', {
  change: ({ amount, account }: { amount: string; account: string }): string => `${amount} on account ${account}`,
  foreign: ({ changes, date, description }: { changes: string; date: string; description: string }): string =>
    `vetledger did not make this entry, which changes accounts that only vetledger posts to: ${changes}, dated ${date}: ${description}`,
  copy: ({
    isReversal,
    countsInWrongDirection,
    number,
    unitId,
  }: {
    isReversal: 0 | 1;
    countsInWrongDirection: 0 | 1;
    number: string;
    unitId: string;
  }): string =>
    `${isReversal ? 'the ERP made this reversal' : 'this entry is a duplicate'} of our entry ${number} (${unitId})${countsInWrongDirection ? '; the base of its tax counts in the wrong direction' : ''}; reset it to draft and delete it in the ERP, and correct the document in the practice software`,
  withoutNumber: 'without number',
  keyMissing: 'the entry no longer has our key in the ERP',
  draftAgain: 'the entry is a draft in the ERP again',
  notComparable: ({ reason }: { reason: string }): string => `vetledger cannot compare the entry: ${reason}`,
});
