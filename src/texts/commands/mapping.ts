import { catalogue } from '../catalogue.ts';

/** Results of `vetledger mapping init`, `apply` and `history`. */
export const mappingTexts = catalogue('commands/mapping.mappingTexts', {
  written: ({ path, places, list }: Record<'path' | 'places' | 'list', string>) =>
    `${path} is written; ${places} to choose:\n${list}`,
  toChoose: ({ places }: { places: string }) => `${places} to choose, marked in the text.`,
  noAccountNumbers: ({ message, todo }: { message: string; todo: string }) =>
    `The account number list is not used: ${message}. ${todo}`,
  inForce: ({ installation, mapping, by }: { installation: number; mapping: string; by: string }) =>
    `Installation ${installation}: ${mapping} is in force, by ${by}. Posted entries do not change; \`vetledger repost --dry-run\` shows what it would post differently.`,
  alreadyInForce: ({ installation, mapping }: { installation: number; mapping: string }) =>
    `Installation ${installation}: ${mapping} is already in force.`,
  byFile: 'the file, automatically',
  history: ['version', 'mapping', 'in force since', 'put in force by', ''],
  used: ['mapping', 'approved by', 'entries', 'links of the chain', 'first posted', 'last posted', ''],
  noneUsed: 'No entry is posted yet.',
});

/** Results of `vetledger mapping check`. */
export const mappingCheckTexts = catalogue('commands/mapping.mappingCheckTexts', {
  policyFault: ({ message }: { message: string }) => `Missing: ${message}.`,
  noCases: ({ file }: { file: string }) =>
    `The mapping has no test cases. Write some into ${file} to prove what it posts.`,
  casesPass: ({ cases, file }: { cases: string; file: string }) =>
    `${cases} of ${file}: all give the expected entries.`,
  casesFail: ({ failed, cases, file }: { failed: number; cases: string; file: string }) =>
    `${failed} of ${cases} of ${file} give other entries (- expected, + posted):`,
  chartAgrees: ({ chart }: { chart: string }) =>
    `${chart}: the chart has all accounts of the mapping, and they are open and of the right type.`,
  chartDiffers: ({ accounts, chart }: { accounts: string; chart: string }) =>
    `${accounts} of the mapping missing, closed or of the wrong type in ${chart}:`,
  warning: ({ warning }: { warning: string }) => `Warning: ${warning}.`,
  notLoaded: ({ installation }: { installation: number }) =>
    `Installation ${installation}: nothing was loaded from the source yet, so the mapping is not compared with it. Run \`vetledger sync\`, which holds documents that the mapping does not cover, and then this command again.`,
  complete: ({ installation }: { installation: number }) =>
    `Installation ${installation}: the mapping covers everything that the source has used so far.`,
  completeButOwed: ({ installation }: { installation: number }) =>
    `Installation ${installation}: the mapping covers everything that the source has used so far, but some of its revenue is probably a liability.`,
  incomplete: ({ installation }: { installation: number }) =>
    `Installation ${installation}: the mapping does not cover these values. Documents with them are held:`,
  missing: 'what is missing, and where it is used',
  more: ({ hidden }: { hidden: number }) => `  and ${hidden} more; --json lists them`,
  remark: ({
    installation,
    message,
    records,
    amount,
  }: Record<'message' | 'records' | 'amount', string> & { installation: number }) =>
    `Installation ${installation}, remark: ${message} (${records}, ${amount}).`,
  namesUnknown: ({ installation }: { installation: number }) =>
    `Installation ${installation}: the names of its accounts are unknown, so vetledger cannot search them for gift cards and prepayments.`,
  valid: ({ path }: { path: string }) => `${path}: the file is valid.`,
  noDatabase: 'Only the file itself is checked, because there is no database yet.',
  fileOnly: ({ message }: { message: string }) => `Only the file itself is checked. ${message}`,
});

/** Results of `vetledger erp check`. */
export const erpCheckTexts = catalogue('commands/mapping.erpCheckTexts', {
  filesComplete: ({ installation, kind }: { installation: number; kind: string }) =>
    `Installation ${installation}, ${kind}: the mapping has every value that the files need.`,
  complete: ({ installation, kind, checks }: { installation: number; kind: string; checks: string }) =>
    `Installation ${installation}, ${kind}: ${checks}, no fault.`,
  faults: ({
    installation,
    kind,
    faults,
    checks,
  }: { installation: number } & Record<'kind' | 'faults' | 'checks', string>) =>
    `Installation ${installation}, ${kind}: ${faults} in ${checks}.`,
});

/** Texts of `vetledger repost` and `vetledger preview --mapping`. */
export const remapTexts = catalogue('commands/mapping.remapTexts', {
  reversedBy: ({ reversal, date }: { reversal: string; date: string }) =>
    `${reversal} reverses it on ${date}, and this entry replaces it:`,
  changedInSource: 'it also changed in the source, so the next window judges it',
  unchanged: ({ code }: { code: string }) => `it stays unchanged: ${code}`,
  wouldCorrect: ({ documents, entries, same }: { documents: string; entries: string; same: number }) =>
    `${documents} would be corrected by ${entries}; ${same} would stay the same.`,
  corrected: ({ documents, entries, same }: { documents: string; entries: string; same: number }) =>
    `${documents} corrected by ${entries}; ${same} stay the same.`,
  wouldHold: ({ corrections }: { corrections: string }) =>
    `${corrections} in closed periods would be held. After the repost, \`vetledger late\` lists the documents, so that you can decide.`,
  held: ({ corrections }: { corrections: string }) =>
    `${corrections} in closed periods are held. \`vetledger late\` lists the documents, so that you can decide.`,
  closedMonths: 'The held corrections would move these amounts, by month of the document and account, debits positive:',
  declined: ({ corrections }: { corrections: string }) => `${corrections} left as posted, as decided.`,
  notPosted: ({ documents }: { documents: string }) => `${documents} unchanged, because this mapping cannot post them:`,
  left: ({ documents }: { documents: string }) =>
    `${documents} also changed in the source, so the next window judges them.`,
  detailsList: '`--details` lists them.',
  inForce: ({ entry }: { entry: string }) => `in force: ${entry}`,
  gives: ({ lines }: { lines: string }) => `this mapping gives:\n${lines}`,
  title: ({ installation, mapping }: { installation: number; mapping: string }) =>
    `Installation ${installation}, mapping ${mapping}`,
  question: 'Post these corrections? Posted entries cannot be deleted.',
  dryRun: 'Dry run: nothing is posted.',
  nothing: 'There is nothing to post again.',
  windowRuns: ({ installation }: { installation: number }) =>
    `A window of installation ${installation} is running; waiting for its end.`,
  interrupted: 'Interrupted: posted corrections stay, and the next repost continues.',
  moved: 'Change per account (debits positive):',
  notMoved: 'No account’s balance changes.',
});

/** Results of `vetledger mapping diff`. */
export const mappingDiffTexts = catalogue('commands/mapping.mappingDiffTexts', {
  title: ({ installation }: { installation: number }) => `Installation ${installation}`,
  counts: ({
    documents,
    same,
    moved,
    moved_closed: closed,
    held,
  }: Record<'documents' | 'same' | 'moved' | 'moved_closed' | 'held', number>) =>
    `${documents} documents in the books: ${same} the same, ${moved} with other lines (${closed} of them in closed periods), ${held} held by at least one mapping.`,
  held: ({
    by,
    code,
    documents,
    amount,
    todo,
  }: {
    by: string;
    code: string;
    documents: number;
    amount: string;
    todo: string;
  }) => `Held by the ${by} mapping only: ${documents} documents of ${amount} (${code}). What to do: ${todo}`,
  open: 'Open periods (debits positive):',
  closed: 'Closed periods (debits positive); each correction there needs a decision or an open day:',
  noBalance: 'No account’s balance changes: the lines differ in role, VAT group, party or dimension.',
});

/** Results of `vetledger mapping show`. */
export const mappingShowTexts = catalogue('commands/mapping.mappingShowTexts', {
  title: ({ installation, mapping, since }: { installation: number; mapping: string; since: string }) =>
    `Installation ${installation}, mapping ${mapping}, documents dated from ${since} on:\n`,
  revenue: 'Rows of invoices: net amounts',
  vat: 'VAT groups: bases and VAT',
  payments: 'Payments and prepayments',
  roles: 'Accounts of the roles',
  none: 'MISSING',
  nothing: 'nothing in these 12 months',
  earlier: ({ by, account }: { by: string; account: string }) => `${by} (before: ${account})`,
  gap: ({ message, count, gross }: { message: string; count: number; gross: string }) =>
    `${message}: ${count} records of ${gross} are held`,
  fault: ({ path, message }: { path: string; message: string }) => `${path}: ${message}`,
  warnings: 'Warnings',
  noWarnings: 'No warnings.',
});
