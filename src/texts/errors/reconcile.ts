import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of `vetledger reconcile`. */
export const reconcileErrors = catalogue('errors/reconcile.reconcileErrors', {
  booksBusy: ({ installation, seconds }: { installation: number; seconds: number }): PlainError => ({
    code: 'erp_books_busy',
    message: `Another \`vetledger reconcile --erp\` is reading the books of installation ${installation} from the ERP, and did not end within ${seconds} s.`,
    todo: 'Wait for it to end, and run the command again.',
  }),
  booksTakenOver: ({ installation }: { installation: number }): PlainError => ({
    code: 'erp_books_taken_over',
    message: `Reading the books of installation ${installation} paused so long that another \`vetledger reconcile --erp\` could take over. Its results so far stay stored.`,
    todo: 'Run the command again after the other one has ended: it continues from there.',
  }),
  erpUnreadable: ({
    installation,
    kind,
    reason,
  }: {
    installation: number;
    kind: string;
    reason: string;
  }): PlainError => ({
    code: 'erp_unreadable',
    message: `The books of installation ${installation} could not be read from the ERP (${kind}): ${reason}`,
    todo: 'Run `vetledger erp check` to check whether the ERP can be reached and the API user may read. Then run the command again.',
  }),
  queryTimeout: ({ part, installation }: { part: string; installation: number }): PlainError => ({
    code: 'query_timeout',
    message: `PostgreSQL did not answer in time: ${part} of installation ${installation} was not completed. Nothing was changed.`,
    todo: 'Run `analyze` in PostgreSQL. Then run the command again with --installation while no window is open. If that does not help, give PostgreSQL more memory (work_mem) or a faster disk.',
  }),
  entriesNotShown: 'it did not show all entries with keys of vetledger',
  noRoom: 'the rate budget had no room for them',
});
