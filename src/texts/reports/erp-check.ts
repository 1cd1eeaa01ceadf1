import { catalogue } from '../catalogue.ts';

/** Results of `vetledger erp check`: what was tried, what is wrong, and what to do. */
export const erpCheckTexts = catalogue('reports/erp-check.erpCheckTexts', {
  /** The text of every draft that a check makes. Later checks find and delete drafts by it. */
  draftMark: 'vetledger erp check: may be deleted',

  // Trials
  server: 'server',
  version: ({ version }: { version: string }): string => `server, version ${version}`,
  login: 'login and company',
  loggedIn: ({ company, currency }: { company: string; currency: string }): string =>
    `login and company ${company} (${currency})`,
  currency: 'currency',
  accounts: 'accounts',
  account: ({ account, roles }: { account: string; roles: string }): string => `account ${account} (${roles})`,
  accountDraft: ({ account }: { account: string }): string => `account ${account}: draft`,
  parties: 'parties',
  party: ({ party, code }: { party: string; code: string }): string => `${party} ${code}`,
  journals: 'journals',
  journal: ({ code }: { code: string }): string => `journal ${code}`,
  taxes: 'taxes',
  tax: ({ code }: { code: string }): string => `tax ${code}`,
  dimensions: 'dimensions',
  dimension: ({ name, value }: { name: string; value: string }): string => `dimension ${name}: ${value}`,
  lockDates: 'lock dates',
  day: ({ date }: { date: string }): string => `day ${date}`,
  periods: 'periods',
  period: ({ date }: { date: string }): string => `period of ${date}`,
  makeEntries: 'right to make entries',
  post: 'right to post',
  withdrawDrafts: 'right to delete drafts',
  matchLines: 'right to match lines',
  makePartners: 'right to make partners',
  makeParties: 'right to make parties',
  lookUp: 'look-up of entries',
  drafts: 'drafts',
  draftsLeft: 'drafts that a check left behind',
  draftOnAll: 'draft on all accounts, with taxes and dimensions',
  draftsDeleted: 'drafts are deleted',
  unbalancedRefused: ({ journal }: { journal: string }): string =>
    `journal ${journal}: an entry that does not balance is refused`,
  postRefusesUnbalanced: 'right to post; an entry that does not balance is refused',
  closedRefused: 'a closed period is refused',

  // The server and the company
  checkServer: ({ erp }: { erp: string }): string =>
    `Check that ${erp} is running and can be reached from here, and check erp.url.`,
  checkOdooLogin:
    'Check that Odoo is running. Check erp.url, erp.database, the user, the password or API key, and erp.company.',
  checkTrytonLogin: 'Check erp.database, erp.user, the password and erp.company.',
  checkNetvisorLogin:
    'Check erp.url, erp.company, erp.user, erp.api_key, erp.client_id, erp.client_secret and the clock of this machine.',
  checkProcountorLogin: 'Check erp.url, erp.client_id, erp.client_secret, erp.api_key and erp.company.',
  checkXeroLogin: 'Check erp.client_id, erp.client_secret and erp.company, and the scopes of the app.',
  checkFortnoxLogin:
    'Check erp.client_id, erp.client_secret and erp.company, and that the company still allows the integration.',
  tested: ({ erp, version }: { erp: string; version: string }): string => `vetledger is tested with ${erp} ${version}`,
  testedUpTo: ({ erp, version }: { erp: string; version: number }): string =>
    `vetledger is tested with ${erp} up to version ${version}`,
  tryOnCopy: 'Try it on a copy of the database first.',
  currencyDiffers: ({ theirs, ours }: { theirs: string; ours: string }): string =>
    `the company keeps its books in ${theirs}, the clinic in ${ours}`,
  correctCurrency: 'Set erp.company to the right company, or correct the currency of the installation.',

  // Rights
  rightMissing: 'the API user lacks this right',
  giveBilling: 'Give the API user the right Invoicing: Billing.',
  giveAccounting: 'Give the API user the group Accounting.',
  giveRight: ({ right }: { right: string }): string => `Give the API user ${right}.`,
  noContacts: 'the API user may not create contacts',
  giveContacts: 'Give the API user the right Contact Creation, or set erp.parties: collective.',
  noParties: 'the API user may not create parties',
  giveParties: 'Give the API user the right, or set erp.parties: collective.',
  byExternalId: 'by external id',
  byReference:
    'by reference, since the API user may not read external ids (ir.model.data); looking up entries in doubt is slower',
  noLookUp:
    'the API user may neither look up external ids nor delete drafts, so vetledger could not delete a surplus draft',
  giveLookUp:
    'Give the API user the right to delete entries (Invoicing: Billing), or to read external ids (ir.model.data).',

  // Accounts and other records
  accountMissing: ({ erp }: { erp: string }): string => `${erp} has no such account in this company`,
  createAccount: 'Create it, or change the mapping.',
  accountAmbiguous: ({ erp, n }: { erp: string; n: number }): string => `${erp} has ${n} accounts with this code`,
  changeCode: 'Change the code of all but one.',
  none: ({ erp }: { erp: string }): string => `${erp} has none`,
  create: ({ erp }: { erp: string }): string => `Create it in ${erp}, or correct the mapping.`,
  several: ({ erp, n }: { erp: string; n: number }): string => `${erp} has ${n}`,
  rename: 'Rename all but one.',
  inactive: ({ isInactive }: { isInactive: string }): string => `it ${isInactive}`,
  activate: ({ activate }: { activate: string }): string => `${activate} it, or correct the mapping.`,
  archived: 'it is deprecated or archived',
  restore: 'Restore it, or map another account.',
  hasCurrency: 'it has a fixed currency',
  hasSecondCurrency: 'it has a second currency',
  mapWithoutCurrency: 'Map an account without one.',
  typeIs: ({ type }: { type: string }): string => `its type is ${type}`,
  giveIncome: 'Give it the type Income, or map another account.',
  changeType: 'Change its type, or map another account.',
  giveReceivable: 'Give it the type Receivable, so that open items show it.',
  notMatchable: 'its lines cannot be matched',
  allowReconciliation: 'Set "Allow Reconciliation" on it, so that invoices and payments can be matched.',
  prepaymentsNotMatchable: ({ erp }: { erp: string }) =>
    `${erp} cannot match its lines, so prepayments and their uses stay open there`,
  isHeading: 'it is a heading: it has no type',
  giveType: 'Give it a type, or map another account.',
  isClosed: 'it is closed',
  open: 'Open it, or map another account.',
  takesNoParties: 'it accepts no parties',
  requireParty: 'Set "party required" on it.',
  requiresParties: 'it requires parties, but its lines have none',
  requireNoParty: 'Turn "party required" off, or map another account.',
  notIncome: 'its type is not one of the income statement',
  isIncome: 'its type is one of the income statement',
  notReceivable: 'its type is not receivable',
  giveReceivableType: 'Give it a type with "receivable", so that open items show it.',
  setReconcile: 'Set "reconcile" on it, so that invoices and payments can be matched.',
  notVatAccount: 'it is not the account on which Xero posts VAT',
  bankAccount: 'it is a bank account, and journals cannot use it',
  systemAccount: ({ system }: { system: string }): string =>
    `it is the system account ${system}, and journals cannot use it`,
  mapOtherAccount: 'Map another account.',
  mapOtherTax: 'Map another tax.',
  baseWithoutTag: 'its base has no tag: Odoo’s tax report shows the tax amounts, but the base only on the tax line',

  // Days
  noLocks: 'none',
  lock: ({ kind, date }: { kind: string; date: string }): string => `${kind} through ${date}`,
  locked: ({ lock }: { lock: string }): string => `it is locked (${lock})`,
  unlock: ({ erp }: { erp: string }): string => `Unlock it in ${erp}, or set erp.from to a later date.`,
  noPeriod: ({ erp }: { erp: string }): string => `${erp} has none`,
  createPeriod: ({ erp }: { erp: string }): string => `Create the fiscal year and its periods in ${erp}.`,
  periodClosed: ({ period }: { period: string }): string => `${period} is closed`,
  openPeriod: ({ erp }: { erp: string }): string => `Open it in ${erp}, or set erp.from to a later date.`,

  // Drafts
  nothingPosted: 'not tried: nothing is posted yet',
  syncFirst:
    'Load the clinic with `vetledger sync`, and check again: the posted entries determine the journals, taxes and dimensions.',
  rightsMissing: 'not tried: the API user lacks rights',
  noAccount: 'not tried: no journal or account is available',
  noOpenPeriod: 'not tried: no open period, journal or account is available',
  correctAbove: 'Correct the faults above first.',
  tookUnbalanced: 'Odoo accepted a draft that does not balance, or added a line to it',
  removeDefaultAccount:
    'Remove the default account from the journal, or map another journal. vetledger compares each entry after creating it, and would refuse these.',
  seeMessage: 'See the message.',
  postedEmpty: ({ id }: { id: string }): string => `Odoo posted the entry ${id}, which has no lines`,
  cancelEntry: 'Cancel it in Odoo, and do not deliver to this server.',
  cannotTryPosting: 'posting cannot be tried safely, because no account of the mapping can be matched',
  setReconcileOnReceivable: 'Set "reconcile" on the account of the role receivable.',
  postedUnbalanced: ({ id }: { id: string }): string => `Tryton posted the move ${id}, which does not balance`,
  reverseMove: 'Reverse it in Tryton, and do not deliver to this server.',
  noClosedPeriod: 'not tried: Tryton has no closed period',
  tookClosed: ({ period }: { period: string }): string => `Tryton accepted a draft in ${period}, which is closed`,
  tookUnknownAccount: ({ account, id }: { account: string; id: string }): string =>
    `Netvisor accepted the voucher ${id} on account ${account}, which does not exist. vetledger invalidated it.`,
  doNotDeliver: 'Do not deliver to this server.',
  correctInErp: ({ erp }: { erp: string }): string => `Correct the cause in ${erp}; the message names it.`,
  correctOrGiveRight: ({ erp, right }: { erp: string; right: string }): string =>
    `Correct the cause in ${erp}; the message names it. The API user needs ${right}.`,
});
