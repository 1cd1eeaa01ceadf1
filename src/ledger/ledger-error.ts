/**
 * The reason why the ledger refuses entries: a defect of the caller, or another process that posted first. The data of
 * a document is never the cause. No entry of the batch is posted.
 */
export type LedgerErrorCode = 'unsound_entry' | 'already_in_force' | 'not_in_force' | 'entry_missing';

export class LedgerError extends Error {
  readonly code: LedgerErrorCode;

  constructor(code: LedgerErrorCode, message: string) {
    super(message);
    this.name = 'LedgerError';
    this.code = code;
  }
}
