import { catalogue } from '../catalogue.ts';

/** Messages of errors that come from the ERP’s answers. */
export const erpAnswerTexts = catalogue('findings/erp-answers.erpAnswerTexts', {
  answerTooLarge: ({ megabytes }: { megabytes: number }): string => `the answer is larger than ${megabytes} MB`,

  // The form of an answer
  notTheFormat: ({ page }: { page: string }): string =>
    `the answer does not have the ERP’s format, or is incomplete: ${page}`,
  notXml: ({ reason }: { reason: string }): string => `XML that vetledger does not read (${reason})`,
  wrongForm: ({ reason }: { reason: string }): string => `the answer does not have the ERP’s form: ${reason}`,
  expected: ({ expected, got }: { expected: string; got: string }): string => `expected ${expected}, got ${got}`,
  notJsonRpc: ({ erp }: { erp: string }): string => `the answer does not come from ${erp}: it is not JSON-RPC`,
  noResult: ({ erp }: { erp: string }): string =>
    `the answer does not come from ${erp}: it has neither a result nor an error`,
  pagesIncomplete: ({ erp, list }: { erp: string; list: string }): string =>
    `the pages of ${erp}’s list ${list} do not prove that they are complete`,
  sieIncomplete: ({ at }: { at: string }): string => `the SIE file is incomplete, or of another year (${at})`,
  otherRequest: 'the answer belongs to another request: it has another id',
  idsMissing: ({ erp, ids, entries }: { erp: string; ids: number; entries: number }): string =>
    `${erp} answered ${ids} ids for ${entries} entries`,
  notAnId: ({ id, erp }: { id: string; erp: string }): string => `${id} is not an id of ${erp}`,
  withoutText: 'an error without a text',
  importWithoutReason: 'Odoo imported nothing, and gave no reason',

  // Login and company
  loginRefused: ({ erp, user }: { erp: string; user: string }): string =>
    `${erp} refuses the user ${user}, or the password or API key`,
  clientRefused: ({ erp, client, reason }: { erp: string; client: string; reason: string }): string =>
    `${erp} refuses the client id ${client}, or its secret: ${reason}`,
  noToken: ({ erp }: { erp: string }): string => `the answer of ${erp} to the login has no token`,
  keyRefused: ({ erp }: { erp: string }): string =>
    `${erp} refuses the API key: it is wrong, belongs to another database, or has expired`,
  noDatabase: ({ erp, url, database }: { erp: string; url: string; database: string }): string =>
    `${url} has no ${erp} database ${database}`,
  notTheErp: ({ erp, url }: { erp: string; url: string }): string =>
    `${url} does not accept ${erp}’s login: it is not ${erp}, or another version of it`,
  versionTooOld: ({ erp, url, version, oldest }: { erp: string; url: string; version: number; oldest: number }) =>
    `${url} is ${erp} ${version}; vetledger delivers to ${erp} ${oldest} and later`,
  noCompany: ({ erp, user, list }: { erp: string; user: string; list: string }): string =>
    `the ${erp} user ${user} may not use any company; the companies of the user: ${list}`,
  companyNotAllowed: ({ erp, user, company, list }: Record<'erp' | 'user' | 'company' | 'list', string>): string =>
    `the ${erp} user ${user} may not use the company ${company}; the companies of the user: ${list}`,
  companyAmbiguous: ({ erp, list }: { erp: string; list: string }): string =>
    `erp.company must name one of the companies of the ${erp} user: ${list}`,
  none: 'none',
  locksUnreadable: 'the Odoo user may not read the lock dates of the company',
  parentLocksUnreadable:
    'the company is a branch, and the Odoo user may not read the lock dates of the parent company: add the parent company to the user’s companies',
  currencyUnreadable: 'the Odoo user may not read the currency of the company',

  // Writing
  alreadyThere: ({ erp }: { erp: string }): string => `${erp} already has the entry`,
  partyNotFound: ({ erp, party, unitId }: { erp: string; party: string; unitId: string }): string =>
    `vetledger created a ${party} for ${unitId}, but ${erp} does not show it`,
  periodNotFound: ({ erp, unitId }: { erp: string; unitId: string }): string =>
    `${erp} no longer shows the period of ${unitId}`,
  notADraft: ({ id, erp }: { id: string; erp: string }): string => `${id} is no longer a draft in ${erp}`,
  entriesMissing: ({ erp }: { erp: string }): string => `the answer of ${erp} lacks an entry of the request`,
  resetToDraft: ({ moves }: { moves: string }): string =>
    `${moves} was posted before and reset to draft: post it or delete it in Odoo`,

  // Matching
  lines: ({ ids, reason }: { ids: string; reason: string }): string => `lines ${ids}: ${reason}`,
  lineMissing: ({ erp }: { erp: string }): string => `${erp} does not have one of these lines`,
  lineMatched: 'one of them is matched with other lines',
  notBalanced: ({ balance }: { balance: string }): string => `their sum is ${balance} instead of zero`,
  lineNotPosted: 'one of them is not posted',
  notMatched: 'the ERP accepted the request, but did not match the lines',
});
