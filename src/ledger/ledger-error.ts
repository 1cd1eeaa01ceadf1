/** What the ledger refuses: a caller's defect or a lost race, never one document's data. Nothing of the batch is posted. */
export type LedgerErrorCode = 'unsound_entry' | 'already_in_force' | 'not_in_force' | 'entry_missing';

export class LedgerError extends Error {
  readonly code: LedgerErrorCode;

  constructor(code: LedgerErrorCode, message: string) {
    super(message);
    this.name = 'LedgerError';
    this.code = code;
  }
}
