import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const configurationDiffers = (of: { installation: number; differences: string }): string =>
  `The configuration of installation ${of.installation} does not fit its books: ${of.differences}. Nothing was requested from the source or posted.`;

/** The reason why books cannot be closed, reopened, reposted, delivered or used with the present configuration. */
export const booksErrors = catalogue('errors/books.booksErrors', {
  periodOpen: (of: { installation: number; day: string; closedThrough: string | null }): PlainError => ({
    code: 'period_open',
    message: `The books of installation ${of.installation} are ${of.closedThrough === null ? 'not closed' : `closed only through ${of.closedThrough}`}, so ${of.day} is open.`,
    todo:
      of.closedThrough === null
        ? 'Nothing: there is no closed period to reopen.'
        : `Give ${of.closedThrough} or an earlier day.`,
  }),
  closedLater: (of: { installation: number; closedThrough: string; reopenFrom: string }): PlainError => ({
    code: 'period_closed',
    message: `The books of installation ${of.installation} are already closed through ${of.closedThrough}.`,
    todo: `Give a later day. To open the books again, run \`vetledger ledger reopen --from ${of.reopenFrom}\`.`,
  }),
  dayNotOver: ({ day, installation }: { day: string; installation: number }): PlainError => ({
    code: 'day_not_over',
    message: `${day} is not over yet for installation ${installation}. Only past days can be closed.`,
    todo: 'Close it from the next day on, or give an earlier day.',
  }),
  monthNotClosed: (of: {
    installation: number;
    month: string;
    through: string;
    closedThrough: string | null;
  }): PlainError => ({
    code: 'month_not_closed',
    message: `${of.month} was never closed in the books of installation ${of.installation} (${of.closedThrough === null ? 'nothing is closed' : `closed through ${of.closedThrough}`}), so it has no closing binder.`,
    todo: `Close it first: \`vetledger ledger close --through ${of.through} --installation ${of.installation}\`. The reports of an open month: \`vetledger report\`.`,
  }),
  latestDaysOpen: (of: { installation: number; through: string }): PlainError => ({
    code: 'latest_days_open',
    message: `Installation ${of.installation} has VAT on payment with a latest day, and no window has closed since the end of ${of.through}. VAT that becomes due up to that day may not be posted yet.`,
    todo: `Run \`vetledger sync --installation ${of.installation}\`, then close.`,
  }),
  windowBusy: ({ installation }: { installation: number }): PlainError => ({
    code: 'window_busy',
    message: `A window of installation ${installation} is still running. Nothing was posted.`,
    todo: 'Wait until the window ends (see `vetledger windows`), then repost again.',
  }),
  repostSuperseded: ({ installation }: { installation: number }): PlainError => ({
    code: 'repost_superseded',
    message: `The repost paused too long, and a window of installation ${installation} started. What was posted before stays.`,
    todo: 'Repost again: it continues with the documents that still differ.',
  }),
  startDateMoved: (of: { installation: number; configured: string | null; stored: string | null }): PlainError => ({
    code: 'start_date_moved',
    message: `The start_date of installation ${of.installation} is ${of.configured ?? 'absent'}, but its books were begun with ${of.stored ?? 'none'}.`,
    todo: `${of.stored === null ? 'Remove start_date' : `Set start_date back to ${of.stored}`}. To start on another day, use a new database.`,
  }),
  identityChanged: (of: { installation: number; differences: string }): PlainError => ({
    code: 'identity_changed',
    message: configurationDiffers(of),
    todo: `Set it back. If it is the same clinic, accept the change: vetledger adopt --installation ${of.installation} --reason TEXT --yes`,
  }),
  currencyChanged: (of: { installation: number; differences: string; old: string; new: string }): PlainError => ({
    code: 'identity_changed',
    message: configurationDiffers(of),
    todo: `Set currency back to ${of.old}: the amounts in the books are in ${of.old}. For books in ${of.new}, use a new database (database_url, or data_dir with the embedded servers).`,
  }),
  identityDifference: (of: { setting: string; configured: string; books: string }): string =>
    `${of.setting} is ${of.configured}, but the books have ${of.books}`,
  installationDiffers: (of: { installation: number; differences: string }): PlainError => ({
    code: 'installation_differs',
    message: `The process that opened the window of installation ${of.installation} has another configuration: ${of.differences}.`,
    todo: 'Correct the configuration of one of the running processes and restart it.',
  }),
  processDifference: (of: { setting: string; opener: string; own: string }): string =>
    `${of.setting} is ${of.opener} there and ${of.own} here`,
  mappingSuperseded: ({ installation }: { installation: number }): PlainError => ({
    code: 'mapping_superseded',
    message: `The mapping of installation ${installation} changed during the work. Nothing more is posted with the earlier one.`,
    todo: 'In a window, nothing: it continues with the new mapping. Otherwise run the command again.',
  }),
  copyBarred: ({ installation }: { installation: number }): PlainError => ({
    code: 'copy_barred',
    message: `This database is a copy, and the company of installation ${installation} belongs to its original.`,
    todo: 'Name another company for trials in `erp`, or set `erp: {kind: ledger}`.',
  }),
});
