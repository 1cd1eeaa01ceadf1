import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** The reason why `late decide` or `late --redate` refuses a document, an entry or a daily summary. */
export const lateErrors = catalogue('errors/late-documents.lateErrors', {
  documentUnknown: ({ document }: { document: string }): PlainError => ({
    code: 'document_unknown',
    message: `The document ${document} does not exist in this database.`,
    todo: 'Use an id that `vetledger late` prints.',
  }),
  dateInFuture: ({ document, date }: { document: string; date: string | null }): PlainError => ({
    code: 'not_decidable',
    message: `${document} is dated in the future (${date}), so no decision is possible.`,
    todo: 'vetledger posts the document automatically on that day. If the date is wrong, correct it in the practice software.',
  }),
  notLate: ({ document, problem }: { document: string; problem: string | null }): PlainError => ({
    code: 'not_late',
    message: `${document} is not late${problem === null ? '' : `; it has the problem ${problem}`}.`,
    todo: 'Use an id that `vetledger late` prints. For other problems, `vetledger problems` shows what to do.',
  }),
  otherDecision: (of: { document: string; problem: string; option: string; options: string }): PlainError => ({
    code: 'not_decidable',
    message: `${of.document} has the problem ${of.problem}, for which ${of.option} is not possible.`,
    todo: `Use one of ${of.options}.`,
  }),
  onlyReversed: ({ document }: { document: string }): PlainError => ({
    code: 'not_decidable',
    message: `${document} is void or no longer final in the source, so its entry must be reversed. It cannot be left as posted.`,
    todo: 'Use --redate to post the reversal on the first open day.',
  }),
  oneOfMany: ({ document }: { document: string }): PlainError => ({
    code: 'one_of_many',
    message: `${document} is one of many documents that the source no longer shows. They can only be confirmed together.`,
    todo: 'Run `vetledger late decide --filter code=source_shrank,kind=KIND --number N --confirm-gone`, with the number that `vetledger problems` shows.',
  }),
  notJudged: ({ document }: { document: string }): PlainError => ({
    code: 'not_judged',
    message: `${document} must be judged again before a decision is possible.`,
    todo: `Run \`vetledger problems retry ${document}\`, then decide again.`,
  }),
  notMissing: ({ document }: { document: string }): PlainError => ({
    code: 'not_missing',
    message: `${document} is not missing in the source, or was already confirmed as gone. Nothing was changed.`,
    todo: 'Run `vetledger late` to list the documents that --confirm-gone applies to.',
  }),
  partOfMany: (): PlainError => ({
    code: 'part_of_many',
    message: 'The filter selects only some of the missing documents of a list (source_shrank).',
    todo: 'Select all documents of the list with --filter code=source_shrank,kind=KIND, and give the number that `vetledger problems` shows.',
  }),
  changedSince: ({ documents, more }: { documents: string; more: number }): PlainError => ({
    code: 'changed_since',
    message: `The source, the mapping or a period has changed since ${documents}${more > 0 ? ` and ${more} more` : ''} were last judged. Nothing was decided.`,
    todo: 'Run `vetledger sync`, which judges them again. Then decide.',
  }),
  changedShown: ({ changes, more }: { changes: string; more: number }): PlainError => ({
    code: 'other_shown',
    message: `The effects that were shown have changed: ${changes}${more > 0 ? `; and ${more} more` : ''}. Nothing was decided.`,
    todo: 'Run the command again to see the present documents and amounts.',
  }),
  otherNumber: ({ found, number }: { found: number; number: number }): PlainError => ({
    code: 'other_number',
    message: `The filter selects ${found} undecided documents, but --number is ${number}. Nothing was changed.`,
    todo: 'Run `vetledger late` to see the undecided documents, and give their number.',
  }),
  windowBusy: ({ installation }: { installation: number }): PlainError => ({
    code: 'window_busy',
    message: `A window of installation ${installation} is running. Nothing was posted.`,
    todo: 'Wait until the window ends (see `vetledger windows`), then decide again.',
  }),
  closedInBooks: ({ unit, date, through }: { unit: string; date: string; through: string }): PlainError => ({
    code: 'period_closed',
    message: `${unit} is dated ${date}, but our books are closed through ${through}. It cannot be reversed on its date.`,
    todo: 'Open the period in the ERP and run `vetledger deliver retry`. Or run `vetledger ledger reopen`, then decide again.',
  }),
  openInErp: ({ unit, date }: { unit: string; date: string }): PlainError => ({
    code: 'not_late',
    message: `The last read of the ERP’s periods shows the period of ${unit} (${date}) as open.`,
    todo: 'Run `vetledger deliver retry`.',
  }),
  erpPeriodMissing: ({ unit, day }: { unit: string; day: string }): PlainError => ({
    code: 'erp_period_missing',
    message: `The first open day for ${unit} is ${day}, but the ERP has no period for that day.`,
    todo: 'Create the fiscal year or period in the ERP. Run `vetledger deliver`, then decide again.',
  }),
  otherPostingMode: (of: { unit: string; entry: string; mode: 'document' | 'daily_summary' }): PlainError => ({
    code: 'not_redatable',
    message: `A document of ${of.unit} was corrected by ${of.entry}, which is delivered ${of.mode === 'document' ? 'as a single entry' : 'in a daily summary'}.`,
    todo: 'Open the period in the ERP, then run `vetledger deliver retry`.',
  }),
});
