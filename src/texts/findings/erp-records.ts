import { catalogue } from '../catalogue.ts';

/** How the messages about Odoo name its records. */
export const odooTerms = catalogue('findings/erp-records.odooTerms', {
  erp: 'Odoo',
  party: {
    one: 'partner',
    many: 'partners',
    ours: 'reference',
    theirs: 'reference',
    tried: 'partner with the reference',
    isInactive: 'is archived',
  },
  record: { code: 'code', isInactive: 'is archived', activate: 'Restore' },
  right: 'the right Invoicing: Billing',
});

/** How the messages about Tryton name its records. */
export const trytonTerms = catalogue('findings/erp-records.trytonTerms', {
  erp: 'Tryton',
  party: {
    one: 'party',
    many: 'parties',
    ours: 'identifier',
    theirs: 'code',
    tried: 'party',
    isInactive: 'is not active',
  },
  record: { code: 'name or code', isInactive: 'is not active, or accepts no lines', activate: 'Activate' },
  right: 'the group Accounting',
});

/** How the messages about Procountor name its records. Its entries have no parties. */
export const procountorTerms = catalogue('findings/erp-records.procountorTerms', {
  erp: 'Procountor',
  record: { code: 'name', isInactive: 'is not active', activate: 'Activate' },
  right: 'the rights to receipts and their approval',
});

/** How the messages about Xero name its records. Its journals have no parties. */
export const xeroTerms = catalogue('findings/erp-records.xeroTerms', {
  erp: 'Xero',
  record: { code: 'name', isInactive: 'is archived or deleted', activate: 'Restore' },
  right: 'the scopes accounting.manualjournals and accounting.settings.read',
});

/** How the messages about Netvisor name its records. Its entries have no parties. */
export const netvisorTerms = catalogue('findings/erp-records.netvisorTerms', {
  erp: 'Netvisor',
  record: { code: 'name', isInactive: 'is hidden', activate: 'Show' },
  right: 'the right to the API resources of accounting and dimensions',
});

/** How the messages about Fortnox name its records. Its entries have no parties. */
export const fortnoxTerms = catalogue('findings/erp-records.fortnoxTerms', {
  erp: 'Fortnox',
  record: {
    code: 'code',
    isInactive: 'is not active, is not open to manual vouchers, or needs approvals',
    activate: 'Activate or open',
  },
  right: 'the scopes bookkeeping, companyinformation, settings, costcenter and project',
});

interface Named {
  erp: string;
  kind: string;
  name: string;
}

/** Messages about records of the ERP that an entry names and that the ERP lacks or refuses. */
export const erpRecordFindings = catalogue('findings/erp-records.erpRecordFindings', {
  journal: 'journal',
  tax: 'tax',
  analyticAccount: ({ dimension }: { dimension: string }): string => `analytic account of ${dimension}`,
  missing: ({ erp, kind, name }: Named): string => `${erp} has no ${kind} ${name}`,
  ambiguous: ({ erp, kind, name, n, code }: Named & { n: number; code: string }): string =>
    `${erp} has ${n} with the ${code} ${name} (${kind}): rename all but one`,
  inactive: ({ erp, kind, name, isInactive }: Named & { isInactive: string }): string =>
    `${erp}’s ${kind} ${name} ${isInactive}`,

  accountMissing: ({ erp, account }: { erp: string; account: string }): string =>
    `${erp} has no account ${account} in this company`,
  accountAmbiguous: ({ erp, account, n }: { erp: string; account: string; n: number }): string =>
    `${erp} has ${n} accounts with the code ${account}: change the code of all but one`,
  account: ({ erp, account, reason }: { erp: string; account: string; reason: string }): string =>
    `${erp}’s account ${account} ${reason}`,
  isArchived: 'is deprecated or archived',
  hasCurrency: 'has a fixed currency: vetledger does not know the amount in that currency',
  notInJournal: ({ journal }: { journal: string }): string => `may not be used in the journal ${journal}`,
  isHeading: 'is a heading: it has no type',
  isClosed: 'is closed',
  isBank: 'is a bank account, and journals cannot use it: map a clearing account',
  isSystem: ({ system }: { system: string }): string =>
    `is the system account ${system}, and journals cannot use it: map an account of your own`,
  isNotVatAccount: ({ account }: { account: string }): string =>
    `is not the account on which Xero posts VAT: map ${account}`,
  noVatAccount: 'is mapped for VAT, but the organisation has no VAT account',
  hasVatCode: ({ held, wanted }: { held: string; wanted: string }): string =>
    `has the VAT code ${held}, but the mapping has ${wanted} for its lines`,
  needsDimension: ({ field }: { field: string }): string => `requires ${field}, but the lines have none`,
  takesNoDimension: ({ field }: { field: string }): string => `does not allow ${field}, but the lines have one`,
  proposesDimension: ({ field, value }: { field: string; value: string }): string =>
    `proposes ${value} as ${field}, which Fortnox would add to the lines`,
  from: ({ date }: { date: string }): string => `accepts no lines before ${date}`,
  through: ({ date }: { date: string }): string => `accepts no lines after ${date}`,
  hasSecondCurrency: 'has a second currency: vetledger does not know the amount in that currency',
  needsParty: ({ account }: { account: string }): string =>
    `Tryton’s account ${account} requires a party, but the line has none: turn "party required" off, or give the account a role with parties in the mapping`,
  takesNoParty: ({ account, party }: { account: string; party: string }): string =>
    `Tryton’s account ${account} accepts no party, but the line has ${party}: turn "party required" on`,
  amountTooLong: ({ erp, amount, most }: { erp: string; amount: string; most: number }): string =>
    `${erp} cannot store the amount ${amount}: it has more than ${most} digits`,

  withReference: ({ reference, code }: { reference: string; code: string }): string => `with the ${reference} ${code}`,
  partyMissing: ({ erp, party, named }: { erp: string; party: string; named: string }): string =>
    `${erp} has no ${party} ${named}`,
  partyAmbiguous: ({
    erp,
    n,
    parties,
    named,
    ids,
  }: Record<'erp' | 'parties' | 'named' | 'ids', string> & { n: number }): string =>
    `${erp} has ${n} ${parties} ${named} (ids ${ids}): only one of them may have it`,
  partyInactive: ({
    erp,
    party,
    named,
    isInactive,
  }: Record<'erp' | 'party' | 'named' | 'isInactive', string>): string => `${erp}’s ${party} ${named} ${isInactive}`,
  client: ({ id }: { id: string }): string => `Client ${id}`,

  noPeriod: ({ erp, date }: { erp: string; date: string }): string => `${erp} has no period for ${date}`,
  periodClosed: ({ erp, period, date }: { erp: string; period: string; date: string }): string =>
    `${erp}’s period ${period} of ${date} is closed`,

  rateDiffers: ({ erp, tax, theirs, ours }: Record<'erp' | 'tax' | 'theirs' | 'ours', string>): string =>
    `${erp}’s tax ${tax} has ${theirs} %, but the document has ${ours} %`,

  // Taxes of Odoo
  taxMissing: ({ tax }: { tax: string }): string => `Odoo has no tax ${tax} on sales in this company`,
  taxAmbiguous: ({ tax, n }: { tax: string; n: number }): string =>
    `Odoo has ${n} taxes on sales with the name ${tax}: rename all but one`,
  taxArchived: ({ tax }: { tax: string }): string => `Odoo’s tax ${tax} is archived`,
  taxFault: ({ tax, reason }: { tax: string; reason: string }): string => `Odoo’s tax ${tax} ${reason}`,
  isGroup: 'is a group of taxes: map one of the taxes in the group',
  isDueOnPayment:
    'is due on payment: Odoo would post it again when the invoice is matched; map a tax that is due on invoice',
  noWholeAmount: 'has no line for its whole amount in its distribution: map a tax that has such a line, with 100 %',
});
