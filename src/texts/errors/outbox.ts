import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of decisions about units in the outbox. */
export const outboxErrors = catalogue('errors/outbox.outboxErrors', {
  unitUnknown: ({ unitId }: { unitId: string }): PlainError => ({
    code: 'unit_unknown',
    message: `There is no entry ${unitId} in the outbox.`,
    todo: 'Use an id that `vetledger problems` prints, such as 4711/invoice/123/1.',
  }),
  inDoubt: ({ unitId }: { unitId: string }): PlainError => ({
    code: 'delivery_in_doubt',
    message: `vetledger has not determined yet whether the ERP has ${unitId}.`,
    todo: 'Wait until `vetledger status` shows no entry in doubt; then decide again.',
  }),
  notLate: ({ unitId }: { unitId: string }): PlainError => ({
    code: 'not_late',
    message: `${unitId} does not wait for a closed period of the ERP.`,
    todo: 'Run `vetledger late list` to see the entries that do.',
  }),
  notRedatable: ({ unitId }: { unitId: string }): PlainError => ({
    code: 'not_redatable',
    message: `${unitId} reverses a delivery, so its date cannot change.`,
    todo: 'Open the period in the ERP; then run `vetledger deliver retry`.',
  }),
  alreadySent: ({ unitIds }: { unitIds: string }): PlainError => ({
    code: 'delivery_in_doubt',
    message: `vetledger has already sent one of ${unitIds} to the ERP, so they cannot cancel each other out.`,
    todo: 'Open the period in the ERP; then run `vetledger deliver retry`.',
  }),
  notUndoable: ({ n }: { n: number }): PlainError => ({
    code: 'delivery_in_doubt',
    message: `${n} ${n === 1 ? 'entry' : 'entries'} of these dates cannot be reversed yet: vetledger is sending them, or they are drafts in the ERP or in files.`,
    todo: 'Wait until `vetledger status` shows no entry in doubt, or pause the delivery. Delete or post drafts in the ERP. Have files withdrawn where they were handed over.',
  }),
});
