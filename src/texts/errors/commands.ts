import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of commands. */
export const commandErrors = catalogue('errors/commands.commandErrors', {
  /** `message` is one of `usageTexts`, or what the parser of the command line reports. */
  languageUnknown: ({ language, known }: { language: string; known: string }): PlainError => ({
    code: 'usage',
    message: `There are no texts in the language ${language}.`,
    todo: `Give one of ${known} in --language or VETLEDGER_LANGUAGE.`,
  }),
  usage: ({ message, command }: { message: string; command: string }): PlainError => ({
    code: 'usage',
    message,
    todo: `Run \`${command} --help\` to see how to use it.`,
  }),
  secondPersonMissing: (): PlainError => ({
    code: 'second_person_needed',
    message: 'The configuration requires two persons (`two_persons`), but only one is named.',
    todo: 'Name the second person with --second NAME.',
  }),
  secondPersonIsFirst: ({ by }: { by: string }): PlainError => ({
    code: 'second_person_needed',
    message: `The second person is the same as the first one: ${by}.`,
    todo: 'Name another person with --second NAME.',
  }),
  demoClinicUnusable: ({ reason }: { reason: string }): PlainError => ({
    code: 'demo_clinic_unusable',
    message: `The clinic of the demo cannot be loaded: ${reason}.`,
    todo: 'If another `npm start` is running here, stop it. Otherwise delete the data of the demo with `npx vetledger remove-data`, and start it again.',
  }),
  nothingDelivered: ({ installation }: { installation: number | null }): PlainError => ({
    code: 'nothing_delivered',
    message:
      installation === null
        ? 'No installation is delivered to an ERP.'
        : `Installation ${installation} is not delivered to an ERP.`,
    todo: 'Set `erp` of the installation (docs/reference/CLI.md, "Configuration"). With `erp: {kind: ledger}` the books stay in PostgreSQL.',
  }),
  accountUnused: ({ account }: { account: string }): PlainError => ({
    code: 'account_unused',
    message: `No entry up to the end of the period has a line on account ${account}.`,
    todo: '`vetledger report trial-balance` lists the accounts.',
  }),
  windowUnknown: ({ windows, installation }: { windows: string; installation: number | null }): PlainError => ({
    code: 'window_unknown',
    message: `There is no window ${windows}${installation === null ? '' : ` of installation ${installation}`}.`,
    todo: '`vetledger windows --limit 100` lists the windows.',
  }),
  fileUnreadable: ({ file, reason }: { file: string; reason: string }): PlainError => ({
    code: 'file_unreadable',
    message: `${file} cannot be read (${reason}).`,
    todo: 'Name an existing file that you may read.',
  }),
  budgetUnknown: ({ action }: { action: string }): PlainError => ({
    code: 'budget_unknown',
    message: `No rate budget with the name ${action} was ever used.`,
    todo: '`vetledger status` lists the budgets by their names.',
  }),
  unitUnknown: ({ unit }: { unit: string }): PlainError => ({
    code: 'unit_unknown',
    message: `There is no entry ${unit} in the outbox.`,
    todo: 'Use an id that `vetledger problems` prints, such as 4711/invoice/123/1.',
  }),
  lateUnitUnknown: ({ unit }: { unit: string }): PlainError => ({
    code: 'unit_unknown',
    message: `There is no entry ${unit} in the outbox of these installations.`,
    todo: 'Use an id that `vetledger late` prints, such as 4711/invoice/123/1 or 4711/summary/2026-03-31-11/1.',
  }),
  notErased: ({ client, installation }: { client: number; installation: number }): PlainError => ({
    code: 'not_confirmed',
    message: `Nothing was erased. --yes would erase names, addresses and free texts of client ${client} of installation ${installation} for good.`,
    todo: 'Erase them in the practice software first; otherwise a later change of a record brings them back. Then run the command again with --yes.',
  }),
  notAdopted: ({
    installation,
    changes,
    hasForeignEntries,
  }: {
    installation: number;
    changes: string;
    hasForeignEntries: boolean;
  }): PlainError => ({
    code: 'not_confirmed',
    message: `Nothing was adopted. --yes would adopt for installation ${installation}: ${changes}.`,
    todo: hasForeignEntries
      ? 'If the other vetledger is stopped for good and its entries are to stay, run the command again with --yes.'
      : 'If this is still the same clinic, run the command again with --yes.',
  }),
  outNotWritable: ({ file, reason }: { file: string; reason: string }): PlainError => ({
    code: 'out_not_writable',
    message: `${file} cannot be written (${reason}).`,
    todo: 'Name with --out a file in an existing folder that you may write to.',
  }),
  folderNotWritable: ({ folder, reason }: { folder: string; reason: string }): PlainError => ({
    code: 'out_not_writable',
    message: `The folder ${folder} cannot be written (${reason}).`,
    todo: 'Name with --out a new folder in an existing folder that you may write to.',
  }),
  folderTaken: ({ folder }: { folder: string }): PlainError => ({
    code: 'file_exists',
    message: `${folder} already exists and is no closing binder; it is not replaced.`,
    todo: 'Name another folder with --out.',
  }),
  publicKeyUnusable: ({ file }: { file: string }): PlainError => ({
    code: 'public_key_unusable',
    message: `${file} does not contain an Ed25519 public key in PEM.`,
    todo: 'Make it from the private key: openssl pkey -in seal-key.pem -pubout -out seal-public.pem',
  }),
  severalInstallations: ({ ids }: { ids: string }): PlainError => ({
    code: 'installation_missing',
    message: 'A mapping is proposed for one installation, but the configuration has several.',
    todo: `Name one: --installation ${ids}`,
  }),
  fileUnwritable: ({ path, reason }: { path: string; reason: string }): PlainError => ({
    code: 'file_unwritable',
    message: `${path} cannot be written (${reason}).`,
    todo: 'Name another file with --out.',
  }),
  fileExists: ({ path }: { path: string }): PlainError => ({
    code: 'file_exists',
    message: `${path} already exists; it is not overwritten.`,
    todo: 'Name another file with --out, and compare the two.',
  }),
  ownerUnreachable: ({ message, sql }: { message: string; sql: string }): PlainError => ({
    code: 'postgres_unreachable',
    message,
    todo: `Start that server, or correct migrate_database_url. If the roles do not exist yet, a superuser must run this SQL, with the passwords of the two URLs:\n${sql}`,
  }),
  fullWithoutErp: (): PlainError => ({
    code: 'usage',
    message: '--full applies only to reading back the ERP.',
    todo: 'Add --erp, or omit --full.',
  }),
  noStartDate: ({ installation }: { installation: number }): PlainError => ({
    code: 'no_start_date',
    message: `Installation ${installation} has no start_date, so it has no opening balances.`,
    todo: 'If its books begin later than the practice software, set `start_date` of the installation (docs/reference/CLI.md, "Configuration").',
  }),
  sandboxNotInstalled: (): PlainError => ({
    code: 'sandbox_not_installed',
    message: 'The sandbox is not installed here: production images do not contain it.',
    todo: 'Run the command in a checkout after `npm ci`, or from the packed package, which contains the sandbox.',
  }),
});

/** Errors of the demo’s Tryton. */
export const demoTrytonErrors = catalogue('errors/commands.demoTrytonErrors', {
  noCheckout: {
    message: 'The demo’s Tryton needs a checkout of vetledger.',
    todo: 'Run `npm start -- --erp tryton` in a checkout of vetledger.',
  },
  portTaken: ({ todo }: { todo: string }) => `${todo} If another program uses its port now, stop that program.`,
  endedEarly: { message: 'The demo’s Tryton stopped before it was ready.', todo: 'Start the demo again.' },
});
