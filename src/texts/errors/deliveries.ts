import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const nothing = 'Nothing: delivery continues automatically.';
const twoDatabases = 'docs/operators/delivery.md, "Two databases, one company", explains what this command does.';

/** Reasons why nothing is delivered to a company of the ERP at present. */
export const deliveryErrors = catalogue('errors/deliveries.deliveryErrors', {
  // The ERP does not answer, or refuses everything. `reason` is the ERP's answer; `erp` is its kind and address.
  limitSpent: ({ code, reason }: { code: string; reason: string }): PlainError => ({
    code,
    message: reason,
    todo: 'Nothing: delivery continues automatically when the ERP’s limit allows it.',
  }),
  loginRefused: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_refused',
    message: `${erp} refuses the credentials or rights of the API user: ${reason}`,
    todo: 'Run `vetledger erp check` to see which, and correct the user, password or rights. Delivery then continues automatically.',
  }),
  throttled: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_throttled',
    message: `${erp} accepts no more requests at present: ${reason}`,
    todo: nothing,
  }),
  locked: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_locked',
    message: `${erp} is locked: ${reason}`,
    todo: nothing,
  }),
  unreachable: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_unreachable',
    message: `${erp} cannot be reached: ${reason}`,
    todo: 'Start the ERP, or correct erp.url. Delivery then continues automatically.',
  }),
  refused: ({ code, erp, reason }: { code: string; erp: string; reason: string }): PlainError => ({
    code,
    message: `${erp} refuses the request: ${reason}`,
    todo: 'Run `vetledger erp check` to see what is missing, and correct it. Delivery then continues automatically.',
  }),
  noAnswer: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_no_answer',
    message: `${erp} does not answer: ${reason}`,
    todo: 'Usually nothing: vetledger looks up what it sent, and delivery continues automatically.',
  }),
  errorUnknown: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_error_unknown',
    message: `${erp} answers with an error that vetledger does not know: ${reason}`,
    todo: 'Read the log of the ERP. vetledger looks up what it sent, and delivery continues automatically.',
  }),
  failedBefore: ({ code, message }: { code: string; message: string }): PlainError => ({
    code,
    message,
    todo: 'Usually nothing: vetledger tries again automatically. `vetledger erp check` shows more.',
  }),
  failedRecently: (): PlainError => ({
    code: 'erp_unreachable',
    message: 'A request to the ERP failed a moment ago.',
    todo: 'Usually nothing: vetledger tries again automatically. `vetledger erp check` shows more.',
  }),

  // Another delivery
  companyBusy: (): PlainError => ({
    code: 'erp_company_busy',
    message: 'Another delivery is sending to the same company of the ERP.',
    todo: 'Nothing: the deliveries take turns.',
  }),
  formerNameBusy: (): PlainError => ({
    code: 'erp_company_busy',
    message: 'A delivery to this company, under its former name in the configuration, has not ended yet.',
    todo: nothing,
  }),
  takenOver: (): PlainError => ({
    code: 'erp_taken_over',
    message:
      'An earlier delivery to this company did not shut down cleanly. The ERP may still be working on what that delivery sent.',
    todo: 'Nothing: vetledger waits until the ERP has finished, looks up what was sent, and continues automatically.',
  }),
  paused: ({ installation, by, reason }: { installation: number; by: string; reason: string }): PlainError => ({
    code: 'delivery_paused',
    message: `The delivery of installation ${installation} was paused by ${by}: ${reason}`,
    todo: 'To continue, run `vetledger deliver resume`.',
  }),

  // The company and its first entry
  locksUnreadable: (): PlainError => ({
    code: 'erp_locks_unreadable',
    message:
      'The ERP moves entries of closed periods to another date, and vetledger cannot read which periods are closed.',
    todo: 'Give the API user the right to read the periods. Until then vetledger sends nothing.',
  }),
  firstInDoubt: (): PlainError => ({
    code: 'erp_first_in_doubt',
    message:
      'vetledger sent the first entry to this company, and the ERP has not answered. vetledger sends nothing else until it has looked that entry up.',
    todo: nothing,
  }),
  firstUnseen: (): PlainError => ({
    code: 'erp_first_unseen',
    message: 'The ERP shows a new entry some seconds late, and vetledger waits until it shows the first one.',
    todo: nothing,
  }),
  listIncomplete: (): PlainError => ({
    code: 'erp_list_incomplete',
    message: 'The ERP did not show all entries with keys of vetledger. vetledger sends nothing until it has seen them.',
    todo: 'Usually nothing: vetledger requests the entries again automatically.',
  }),
  companyForeign: ({ installation, reason }: { installation: number; reason: string }): PlainError => ({
    code: 'erp_company_foreign',
    message: reason,
    todo: `Find out which vetledger delivers to this company. Stop it, or name another company in \`erp\`. If this database is to deliver, run \`vetledger adopt --installation ${installation} --reason TEXT\`; ${twoDatabases}`,
  }),
  companyNamedDifferently: ({
    installation,
    named,
    others,
    isOne,
    theirs,
  }: {
    installation: number;
    named: string;
    others: string;
    isOne: 0 | 1;
    theirs: string;
  }): PlainError => ({
    code: 'erp_company_named_differently',
    message: `The configuration names one company of the ERP in two ways: installation ${installation} names it ${named}, and installation${isOne ? '' : 's'} ${others} ${isOne ? 'names' : 'name'} it ${theirs}.`,
    todo: `Give installation ${installation} the same erp.url, erp.database and erp.company as installation${isOne ? '' : 's'} ${others}. Until then vetledger sends nothing of installation ${installation}.`,
  }),
  companyMeansAnother: ({
    installation,
    named,
    answered,
  }: {
    installation: number;
    named: string;
    answered: string;
  }): PlainError => ({
    code: 'erp_company_means_another',
    message: `Installation ${installation} is configured for the company ${named}. In the ERP this name used to be another company: now it is ${answered}.`,
    todo: 'Set erp.company to the id of the right company. vetledger then reports what the former company may have, and does not send it to the new one.',
  }),
  currencyDiffers: ({
    installation,
    theirs,
    ours,
  }: {
    installation: number;
    theirs: string;
    ours: string;
  }): PlainError => ({
    code: 'erp_currency_differs',
    message: `The ERP keeps the books of the company of installation ${installation} in ${theirs}; the clinic uses ${ours}.`,
    todo: 'Set erp.company to the right company, or correct the currency of the installation. Until then vetledger sends nothing.',
  }),
  kindUnknown: ({ kind }: { kind: string }): PlainError => ({
    code: 'erp_kind_unknown',
    message: `This version does not deliver to an ERP of kind ${kind}.`,
    todo: 'Set erp.kind of the installation to one of those that docs/reference/CLI.md lists.',
  }),
});

/** Entries of another database in a company. */
export const foreignEntryTexts = catalogue('errors/deliveries.foreignEntryTexts', {
  one: ({ installation, keys, first }: { installation: number; keys: string; first: string }): string =>
    `The company already has 1 entry of installation ${installation} from another database of vetledger${keys}: ${first}.`,
  several: ({
    n,
    installation,
    keys,
    first,
  }: {
    n: number;
    installation: number;
    keys: string;
    first: string;
  }): string =>
    `The company already has ${n} entries of installation ${installation} from another database of vetledger${keys}, such as ${first}.`,
  keys: ({ prefixes }: { prefixes: string }): string => ` (its keys begin with ${prefixes})`,
  numbered: ({ unitId, number }: { unitId: string; number: string }): string => `${unitId} as ${number}`,
});

/** Texts of the limits that vetledger keeps for the ERP. */
export const paceTexts = catalogue('errors/deliveries.paceTexts', {
  requests: 'The limit of requests to the ERP is used up',
  errors: 'The ERP has refused so many requests that one more refusal might block the account of the API user',
});

/** Reasons why `vetledger erp probe` does not start. */
export const probeErrors = catalogue('errors/deliveries.probeErrors', {
  notSandbox: ({ names }: { names: string }): PlainError => ({
    code: 'erp_company_not_for_trials',
    message: `No name of the company says that it is for trials: ${names}.`,
    todo: 'Configure a company whose name, database or address contains demo, sandbox or test.',
  }),
  noAccounts: (): PlainError => ({
    code: 'erp_probe_accounts_missing',
    message: 'The mapping and the books name fewer than two accounts without a party.',
    todo: 'Name two accounts of the ERP with --accounts.',
  }),
  accountsForm: 'must be two accounts, such as 1910,3000',
  notAnApi: 'Only an ERP with an API can be probed.',
  oneInstallation: 'name one installation with --installation',
});
