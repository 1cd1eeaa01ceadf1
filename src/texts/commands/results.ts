import { catalogue } from '../catalogue.ts';

/** Results and notes of commands. */
export const resultTexts = catalogue('commands/results.resultTexts', {
  nothingChanged: 'Nothing was changed.',
  nothingPosted: 'Nothing was posted.',
  nothingRemoved: 'Nothing was removed.',
  run: ({ command }: { command: string }) => `run \`${command}\``,
  todo: ({ todo }: { todo: string }) => `what to do: ${todo}`,
  warning: ({ message }: { message: string }) => `warning: ${message}`,
  interrupted: 'shutting down; press Ctrl-C again to force it',
});

export const budgetResetTexts = catalogue('commands/results.budgetResetTexts', {
  budget: (of: {
    installation: number;
    action: string;
    limit: number;
    limitNow: number;
    blockedUntil: string | null;
  }) =>
    `installation ${of.installation}, ${of.action}: ${of.limitNow} of ${of.limit}${of.blockedUntil === null ? '' : `, blocked until ${of.blockedUntil}`}`,
  question: 'Remove these blocks and lowered limits?',
  none: 'No budget is blocked or lowered.',
  reset: ({ budgets }: { budgets: string }) => `${budgets} reset.`,
});

export const eraseTexts = catalogue('commands/results.eraseTexts', {
  erased: (
    of: { client: number; installation: number } & Record<'records' | 'versions' | 'entries' | 'reasons', string>,
  ) =>
    `Client ${of.client} of installation ${of.installation}: personal data erased from ${of.records}, ${of.versions}, ${of.entries} and ${of.reasons}. Amounts, id, VAT number and country stay.`,
});

export const exportTexts = catalogue('commands/results.exportTexts', {
  written: ({ file }: { file: string }) => `Written to ${file}.`,
  omitted: ({ installation, entries }: { installation: number; entries: number }) =>
    `Installation ${installation}: ${entries === 1 ? '1 entry is' : `${entries} entries are`} omitted, because their days have no summary yet. The next window makes the summaries of past days. --documents exports these entries.`,
});

export const migrateTexts = catalogue('commands/results.migrateTexts', {
  upToDate: 'The database is up to date.',
  applied: ({ migrations }: { migrations: string }) => `Applied: ${migrations}.`,
  rights: ({ role }: { role: string }) =>
    ` The role ${role} has its rights: it may read and append to the journal, but not change it.`,
  consoleRights: ({ role }: { role: string }) => ` The role ${role} of the console has its rights: it reads the books.`,
});

export const removeDataTexts = catalogue('commands/results.removeDataTexts', {
  everything: 'everything in it',
  booksOf: ({ installation, source, entries }: { installation: number; source: string; entries: string }) =>
    `installation ${installation} of ${source}, ${entries}`,
  books: ({ books }: { books: string }) => `the books in it (${books})`,
  question: ({ folder, what }: { folder: string; what: string }) => `Remove ${folder} and ${what}, for good?`,
  removed: ({ folder }: { folder: string }) => `${folder} is removed.`,
});

export const adoptTexts = catalogue('commands/results.adoptTexts', {
  nothing: ({ installation }: { installation: number }) =>
    `Nothing to adopt: the configuration of installation ${installation} matches its books, and its ERP contains no entries of another database.`,
  adopted: ({ installation, by, changes }: { installation: number; by: string; changes: string }) =>
    `Adopted for installation ${installation}, by ${by}: ${changes}.`,
  nothingKnown: ({ installation }: { installation: number }) =>
    `Nothing to adopt so far: the configuration of installation ${installation} matches its books, and vetledger knows of no entries of another database in its ERP.`,
  searchIncomplete: ({ installation }: { installation: number }) =>
    `The search in the ERP of installation ${installation} was incomplete, so the ERP may contain more entries of another database. Run \`vetledger adopt\` again when the ERP answers.`,
  adoptedEntries:
    'The delivery continues within five minutes, or with `vetledger deliver`. An adopted entry replaces ours with the same id: vetledger compares it and does not send ours. `vetledger problems` lists the differences.',
  restoredQuestion:
    'Is the original gone for good, so that this database replaces it? The original will then refuse to start.',
  copyQuestion: 'Is this a copy for tests? It will write to no ERP and no practice API of the original.',
  looksLikeCopy: ({ evidence }: { evidence: string }) => `It looks like a copy: ${evidence}.`,
  noCopy: 'Nothing shows that this database is a copy.',
  pausedReason: 'restored from a backup: the folder must contain the batches since then',
  restored: 'This database replaces the original, which now refuses to start.',
  lookedUp: ({ installations }: { installations: string }) =>
    `Installations ${installations}: vetledger looks up in the ERP what it may have received since the backup, and then sends the rest.`,
  paused: ({ installations }: { installations: string }) =>
    `Installations ${installations}: vetledger cannot look up files, so their delivery is paused. Put missing batches since the backup back into the folder. Then run \`vetledger deliver resume\` (docs/operators/backup.md, "Copies and restored databases").`,
  left: ({ line }: { line: string }) => `Left in Temporal: ${line}`,
  startAgain: 'Start `vetledger run` again; the next windows read the changes since the backup.',
  copyReason: ({ reason }: { reason: string }) => `a copy for trials: ${reason}`,
  copy: 'This database is now a copy for tests, with its own names in Temporal.',
  copyLimits:
    'It writes to no ERP and no practice API of its books. Windows and deliveries are paused. `vetledger resume` resumes the windows, which share the rate limits of the practice API with the original.',
});

export const operatingTexts = catalogue('commands/results.operatingTexts', {
  pauseAllDeliveries: 'Pause the delivery of all installations?',
  pauseAllWindows: 'Pause the windows of all installations?',
  cancelAllDeliveries: 'Cancel the delivery of all installations?',
  cancelAllWindows: 'Cancel the windows and backfills of all installations?',
  nothingRuns: 'Nothing was under way.',
  work: ({ kind, installation, workflow }: { kind: string; installation: number; workflow: string }) =>
    `The ${kind} of installation ${installation} (${workflow})`,
  alreadyPaused: ({ installation }: { installation: number }) =>
    `The windows of installation ${installation} were already paused.`,
  notPaused: ({ installation }: { installation: number }) =>
    `The windows of installation ${installation} were not paused.`,
  paused: ({ installation }: { installation: number }) =>
    `The windows of installation ${installation} are paused; a running one ends normally. \`vetledger sync\` still opens one. \`vetledger resume --installation ${installation}\` resumes them.`,
  resumed: ({ installation }: { installation: number }) =>
    `The windows of installation ${installation} continue with the schedule of \`vetledger run\`. The next window covers the pause.`,
  deliveryPaused: ({ installation }: { installation: number }) =>
    `The delivery of installation ${installation} is paused; its windows continue. \`vetledger deliver resume\` resumes it.`,
  deliveryAlreadyPaused: ({ installation }: { installation: number }) =>
    `The delivery of installation ${installation} was already paused.`,
  deliveryResumed: ({ installation }: { installation: number }) =>
    `The delivery of installation ${installation} continues when \`vetledger run\` is running, or with \`vetledger deliver\`.`,
  deliveryNotPaused: ({ installation }: { installation: number }) =>
    `The delivery of installation ${installation} was not paused.`,
  deliveryNudged: ({ installation }: { installation: number }) =>
    `The delivery of installation ${installation} starts when \`vetledger run\` is running.`,
  nudged: ({ installation }: { installation: number }) =>
    `A window of installation ${installation} opens now, or after the running one.`,
  nudgedPaused: ({ installation }: { installation: number }) =>
    `No window of installation ${installation} opens, because they are paused; \`vetledger status\` shows by whom. \`vetledger sync --installation ${installation}\` still opens one.`,
  noSchedule: ({ installation }: { installation: number }) =>
    `Installation ${installation} has no schedule yet. Start \`vetledger run\`, or open a window with \`vetledger sync --installation ${installation}\`.`,
  cancelled: ({ what, then }: { what: string; then: string }) => `${what} was cancelled and has ended; ${then}.`,
  cancelling: ({ what, then }: { what: string; then: string }) =>
    `${what} received the request and ends when its worker (\`vetledger run\`) answers; ${then}.`,
  notInTemporal: ({ what }: { what: string }) =>
    `${what} no longer runs in Temporal; the next window records that it has ended.`,
  /** The sentence after a cancellation, by the kind of the cancelled work. */
  afterwards: {
    window: 'the next window covers it',
    backfill: '`vetledger backfill` continues it',
    replay: '`vetledger replay` repeats it',
    delivery:
      'the next window or `vetledger deliver` continues the delivery and first looks up in the ERP what was being sent',
  },
});

export const lateTexts = catalogue('commands/results.lateTexts', {
  redated: ({ unit, entry, date, reversal }: { unit: string; entry: string; date: string; reversal: string }) =>
    `${unit} is posted again as ${entry} on ${date}; it and ${reversal} cancel each other.`,
  cancelledOut: ({ unit, reversal }: { unit: string; reversal: string }) =>
    `${unit} and ${reversal} cancel each other; neither is sent.`,
  differsBy: ({ amount }: { amount: string }) => `differs by ${amount}`,
  age: ({ days }: { days: string }) => `${days} old`,
  dropped: ({ unit }: { unit: string }) => `${unit} has no effect any more; it is settled and not sent.`,
  noDocument: 'No document waits for a decision.',
  undecided: ({ documents }: { documents: string }) =>
    `${documents} without a decision. Run \`vetledger late decide ID --reason TEXT\` with one of the named options:`,
  waitInErp: ({ entries }: { entries: string }) =>
    `${entries} in a closed period of the ERP. Use --redate, or open the period and run \`vetledger deliver retry\`:`,
  reversedBy: ({ unit, reversal }: { unit: string; reversal: string }) => `${unit} (reversed by ${reversal})`,
  notDecided: ({ decisions }: { decisions: string }) => `not decided; ${decisions}`,
  decidedAs: ({ decision, by, at, reason }: Record<'decision' | 'by' | 'at' | 'reason', string>) =>
    `decided: ${decision}, by ${by}, ${at}: ${reason}`,
  entriesDecided: ({ entries }: { entries: string }) => `${entries} decided.`,
  decided: ({ documents }: { documents: string }) => `${documents} decided; \`vetledger sync\` opens a window now.`,
  redate: 'the next window posts it on the first open day',
  as_dated: 'it is posted on its own date when the period is open',
  wait: 'it is not posted until another decision',
  leave_as_posted: 'its entry stays as it is; the correction is not posted',
  accept_date: 'the next window posts it on its own date, if that day is open',
  confirm_gone: 'the next window reverses it as gone from the source',
});

/** Texts of `late decide` before a decision. */
export const weighedTexts = catalogue('commands/results.weighedTexts', {
  none: 'No document matches.',
  title: ({ installation, documents, what }: { installation: number; documents: string; what: string }) =>
    `Installation ${installation}, ${documents}: ${what}`,
  posted: ({ currency }: { currency: string }) => `The next window posts, in ${currency}, debits positive:`,
  keptOut: ({ currency }: { currency: string }) =>
    `These amounts stay out of the books, in ${currency}, debits positive:`,
  postedOn: ({ day }: { day: string }) => `posted on ${day}`,
  intoReopened: ({ day }: { day: string }) =>
    `Warning: ${day} was closed before and is open again. The document goes into that month, which may be declared. To post it in a later month, close the books again first.`,
  notPosted: 'nothing is posted now',
  more: ({ count }: { count: number }) => `… and ${count} more; \`--json\` lists all`,
  hash: ({ hash }: { hash: string }) => `To decide exactly this: --shown ${hash}`,
  dryRun: 'Dry run: nothing was decided.',
  refused: 'Nothing was decided.',
  question: 'Decide this?',
});

/** The text of `problems`. */
export const problemListTexts = catalogue('commands/results.problemListTexts', {
  noDocument: 'The mirror contains no document of this choice.',
  none: 'Nothing is held or refused.',
  also: ({ cause }: { cause: string }) => `also ${cause}`,
  withProblem: ({ documents }: { documents: string }) => `${documents} with a problem`,
  refused: ({ count }: { count: number }) =>
    count === 1 ? '1 entry, number or row refused' : `${count} entries, numbers or rows refused`,
  since: ({ at }: { at: string }) => `since ${at}`,
  sameAmount: 'same amount',
  effect: ({ changes }: { changes: string }) => `the correction, debit +: ${changes}`,
  remarks: 'Remarks about posted documents, with the sum of the amounts concerned:',
  openingRemarks:
    'Remarks about documents from before the start date, which the opening balances contain, with the sum of the amounts concerned:',
  ofCode: '`vetledger problems --code CODE` lists the documents of a code.',
  todo: ({ todo }: { todo: string }) => `what to do: ${todo}`,
  installation: ({ installation }: { installation: number }) => `installation ${installation}  `,
  paymentOn: ({ number }: { number: string }) => `on ${number}`,
  notJudged: ({ documents }: { documents: string }) =>
    `${documents} read, and not judged yet: \`vetledger sync\` judges them.`,
});

export const matchTexts = catalogue('commands/results.matchTexts', {
  unset: ({ payment }: { payment: string }) =>
    `We cannot determine which prepayment ${payment} used; it is posted under the client of its invoice at first posting. The next window posts this.`,
  set: ({ payment, prepayments, client }: { payment: string; prepayments: string; client: string }) =>
    `${payment} used ${prepayments} of ${client}. The next window posts this.`,
  allMatched: ({ installation }: { installation: number }) =>
    `Installation ${installation}: the prepayment of each use is known.`,
  unmatched: ({ installation, uses }: { installation: number; uses: string }) =>
    `Installation ${installation}: ${uses} without a known prepayment`,
  candidate: (of: { prepayment: number } & Record<'client' | 'left' | 'day', string>) =>
    `prepayment ${of.prepayment} of ${of.client} (${of.left}, received ${of.day})`,
  use: (of: Record<'id' | 'amount' | 'day' | 'invoice' | 'client', string>) =>
    `${of.id}  ${of.amount} on ${of.day}, invoice ${of.invoice} of ${of.client}`,
  unknownDay: 'an unknown day',
  ownCandidates: ({ use, candidates }: { use: string; candidates: string }) => `${use}: its client's ${candidates}`,
  oneOf: ({ use, candidates }: { use: string; candidates: string }) => `${use}: one of ${candidates}`,
  noCandidateOf: ({ use }: { use: string }) => `${use}: no prepayment has an unexplained decrease of this amount`,
});

export const verifyTexts = catalogue('commands/results.verifyTexts', {
  hashMissing: ({ hash }: { hash: string }) => `The hash ${hash} is NOT in the chain.`,
  hashTodo:
    'what to do: check that the hash is complete and from these books. If it is, the books were rewritten or cut: restore a backup, and find out who could change the database.',
  hashFound: ({ seq, chain, installation }: { seq: number; chain: string; installation: number }) =>
    `The hash is link ${seq} of ${chain} of installation ${installation}.`,
  exportUnchanged: 'is unchanged since its export from these books',
  exportUnproven: ({ defect }: { defect: string }) => `is NOT proven: ${defect}`,
  otherBooks: ({ installation }: { installation: number }) =>
    `it is of installation ${installation}, whose books were not checked`,
  headMissing: ({ installation, seq, hash }: { installation: number; seq: number; hash: string }) =>
    `its head (link ${seq}, ${hash}) is not in the books of installation ${installation}`,
  sealsWrong: ({ defect }: { defect: string }) => `  seals: NOT valid: ${defect}.`,
  sealsTodo:
    '  what to do: check that this is the key of these books. If it is, the books were rewritten: restore a backup, and find out who could change the database.',
  sealsNone: '  seals: none; the books are empty.',
  seals: ({
    count,
    at,
    seq,
    hash,
    entries,
  }: {
    count: number;
    at: string;
    seq: number;
    hash: string;
    entries: number;
  }) =>
    `  seals: all ${count} are valid. The newest seal, of ${at}, covers ${entries} entries up to link ${seq} (${hash}). Later links have no seal yet.`,
  whole: ({ installation, entries, summaries }: { installation: number; entries: number; summaries: number }) =>
    `Installation ${installation}: the hash chain of ${entries} entries is unchanged${summaries > 0 ? `, and so is the chain of ${summaries} daily summaries` : ''}.`,
  broken: ({ installation, entry, message }: { installation: number; entry: string; message: string }) =>
    `Installation ${installation}: the hash chain is BROKEN at ${entry}: ${message}.`,
  brokenTodo: 'what to do: restore the database from a backup from before the change, and find out who changed it.',
  journal: 'the journal',
  summaries: 'the daily summaries',
});

export const exportDefects = catalogue('commands/results.exportDefects', {
  noSeal: ({ file }: { file: string }) => `it has no seal, and ${file} contains none`,
  unsigned: 'it is not signed, because no seal_key was configured at the export',
  otherKey: 'its seal is not signed with this key',
  changed: 'its content differs from the export',
});

export const probeTexts = catalogue('commands/results.probeTexts', {
  question: ({ company, url }: { company: string; url: string }) =>
    `The probe creates entries of a cent in ${company} (${url}), and withdraws those that it can. Continue?`,
  clean: 'withdrawing entries of earlier probes',
  lag: 'measuring when a look-up shows a new entry',
  duplicate: 'sending another entry with a known key',
  repeat: 'sending a request twice',
  cut: 'cutting connections, and waiting for late entries (about two minutes)',
  locked: 'posting into a closed period',
  imbalance: 'posting an entry that lacks a cent',
  unmeasured: 'not measured',
  left: ({ entries, count }: { entries: string; count: number }) =>
    count === 1 ? `${entries} stays in the company.` : `${entries} stay in the company.`,
  written: ({ file }: { file: string }) =>
    `Wrote ${file}. Name it as \`measured\` in the section \`erp\` of the configuration.`,
  nothing: 'Nothing was sent.',
});
