import { catalogue } from '../catalogue.ts';

/** Errors in the arguments of a command. */
export const usageTexts = catalogue('commands/usage.usageTexts', {
  error: ({ message }: { message: string }) => `error: ${message}`,
  interrupted: 'interrupted',
  noCommand: 'No command was given.',
  fromAfterTo: ({ from, to }: { from: string; to: string }) => `--from ${from} is after --to ${to}.`,
  reasonEmpty: '--reason is empty. Give the reason.',
  reasonMissing: '--reason is missing. Give the reason.',
  byEmpty: '--by is empty. Name the person who is responsible.',
  linkWhat: 'Give one of --account, --identity and --remove.',
  secondInConsole: 'The console has users, so the second person approves there. Leave --second out.',
  secondEmpty: '--second is empty. Name the second person.',
  noTerminal: 'There is no terminal for the question, so --yes is required.',
  fromAndTo: 'Give --from and --to together.',
  oneSpan: 'Give --as-of, --month, or --from and --to.',
  allInstallations: 'Without --installation, the command applies to all installations. Name one, or give --yes.',
  adoptWhat: 'Give --installation ID, --restored or --copy.',
  adoptBoth: 'Give --restored or --copy, but not both.',
  processRunning: 'A process of vetledger uses this database. Stop it first.',
  noBatch: ({ text }: { text: string }) => `${text} is not a batch. The name of a batch looks like 4711-000001.`,
  entriesOrAll: 'Name the entries with ids that `vetledger problems` prints, or give --all.',
  approveThrough: '--approve and --through DATE must be given together.',
  dryRunOrApprove: 'Give --dry-run or --approve, but not both.',
  noClient: ({ text }: { text: string }) => `${text} is not the id of a client.`,
  oneInstallation: 'The configuration has several installations. Name one with --installation.',
  formatOrBinder: 'Give --format FORMAT or --binder MONTH.',
  binderAlone: 'With --binder, give only --installation, --out and --yes.',
  binderOfOne: ({ count }: { count: number }) =>
    `The configuration has ${count} installations, but a folder holds one. Name it with --installation, or omit --out.`,
  jsonNeedsOut: '--json requires --out FILE, because stdout contains the journal.',
  csvOfOne: ({ count }: { count: number }) =>
    `The configuration has ${count} installations, but a table holds one. Name it with --installation, or give --all.`,
  documentsOrFilter: 'Name documents by their ids, or by --filter.',
  filterNeedsShown:
    'There is no terminal for the question. Run the command with --dry-run first. Then give the hash that it prints in --shown, or the number of documents in --number.',
  shownNeedsDocuments: '--dry-run and --shown apply to documents, not to entries.',
  onlyRedate: ({ unit }: { unit: string }) =>
    `${unit} is an entry of a posted document, so only --redate is possible. If the ERP’s period is open again, send the entry unchanged with \`vetledger deliver retry\`.`,
  otherInstallation: ({ installation }: { installation: number }) =>
    `Installation ${installation} is not the one of --installation.`,
  oneDecision: 'Give one decision: --redate, --wait, --as-dated, --leave-as-posted, --accept-date or --confirm-gone.',
  noCondition: ({ text }: { text: string }) =>
    `${text} is not a condition of --filter. Give month=MONTH, from=DATE, to=DATE, code=CODE, kind=KIND, account=ACCOUNT, department=ID, amount>=AMOUNT, amount<=AMOUNT or decided=DECISION, each at most once, separated by commas.`,
  exportNeedsKey: '--export requires --public-key FILE.',
  noMappingOf: ({ path }: { path: string }) =>
    `No installation uses ${path} as its mapping. Name an installation with --installation ID.`,
  erpNeedsConfiguration: ({ option }: { option: string }) =>
    `${option} requires a configuration and a database: they contain the ERP and the accounts in use.`,
  namePayment: 'Name the payment, for example 4711/payment/12.',
  matchReason: 'State in --reason how you know the match.',
  noPayment: ({ text }: { text: string }) =>
    `${text} is not the id of a payment. Such an id looks like 4711/payment/12.`,
  prepaymentOrNone: 'Name the prepayments with --prepayment ID, or give --none.',
  prepaymentTwice: 'A prepayment is named twice.',
  retryWhat: 'Choose what to judge again: documents by their id, --window, --failed, or --from and --to.',
  noDocument: ({ text }: { text: string }) =>
    `${text} is not the id of a document. Such an id looks like 4711/invoice/123.`,
  replayWhat: 'Choose what to replay: windows by their number, --failed, or --from and --to.',
  noWindow: ({ text }: { text: string }) => `“${text}” is not the number of a window.`,
  showBeforeFiling:
    'There is no terminal for the question. Look at the return with --dry-run, and give its hash with --shown.',
  noFormOfCountry: ({ installation, forms }: { installation: number; forms: string }) =>
    `The mapping of installation ${installation} names no country whose form is known. Give --form ${forms}.`,
  onlyWithMarkFiled: '--correction, --take-late, --dry-run, --shown and --reason need --mark-filed.',
  fileNeedsReason: '--mark-filed needs --reason TEXT.',
  oneTable: ({ tables }: { tables: string }) =>
    `A file has one table, so that its lines add up. Name one of these with --csv: ${tables}.`,
  tableMissing: ({ table, installation }: { table: string; installation: number }) =>
    `Installation ${installation} has no table ${table}.`,
  csvOrJson: 'Give --csv or --json, but not both.',
  repostOne: 'Give only one of: --document; --from and --to; --all.',
  repostWhat: 'Choose what to post again: --document, --from and --to, or --all.',
  noDocuments: ({ text }: { text: string }) =>
    `${text} does not name a document. Write invoice 123 or 4711/invoice/123.`,
});

/** Requirements for the values of options. */
export const valueTexts = catalogue('commands/usage.valueTexts', {
  wholeNumber: 'It must be a whole number.',
  positive: 'It must be a number above 0.',
  date: 'It must be a date like 2026-01-31.',
  month: 'It must be a month like 2026-01.',
  time: 'It must be a time like 2026-01-31 14:30.',
  sha256: 'It must be 64 digits of 0-9 and a-f.',
  webAddress: 'It must be an http address.',
  address: 'It must be host:port, for example 127.0.0.1:8095.',
});
