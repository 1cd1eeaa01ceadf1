import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** The reason why an action is refused, in the console or on the command line. */
export const actionErrors = catalogue('errors/actions.actionErrors', {
  changed: (): PlainError => ({
    code: 'changed_since_shown',
    message: 'The effects of the action differ from those that were shown. Nothing was changed.',
    todo: 'Look at the new effects and confirm again: in the form of the console, or after --dry-run of the command.',
  }),
  noRight: ({ user }: { user: string }): PlainError => ({
    code: 'no_right',
    message: `The user ${user} has no right to this action any more. Nothing was changed.`,
    todo: 'Another user with the right can ask for the action. An administrator grants roles with `vetledger user role`.',
  }),
  noSecond: (): PlainError => ({
    code: 'second_person_needed',
    message:
      'The configuration requires two persons (`two_persons`), but no second person approved the action. Nothing was changed.',
    todo: 'Ask again. Another user then approves the request in the console.',
  }),
  noEffect: (): PlainError => ({
    code: 'no_effect',
    message: 'The action would change nothing, because its effect exists already.',
    todo: 'Open the page of the action again to see the present state.',
  }),
  windowsPaused: (): PlainError => ({
    code: 'windows_paused',
    message: 'The windows of this clinic are paused, so none was opened.',
    todo: 'Resume the windows, then ask again.',
  }),
  deliveryPaused: (): PlainError => ({
    code: 'delivery_paused',
    message: 'The delivery of this clinic is paused, so none was started.',
    todo: 'Resume the delivery, then ask again.',
  }),
  noSchedule: (): PlainError => ({
    code: 'no_schedule',
    message: 'Temporal has no Schedule of this clinic, so no window was opened.',
    todo: 'The daemon makes the Schedule within a minute. Then ask again.',
  }),
  stopped: ({ action }: { action: number }): PlainError => ({
    code: 'action_failed',
    message: `The daemon could not perform action ${action} completely. Corrections that were posted before stay.`,
    todo: 'Ask for a new preview to post the others. An operator finds the cause in the log of the daemon under the number of the action.',
  }),
  failed: ({ action }: { action: number }): PlainError => ({
    code: 'action_failed',
    message: `The daemon could not perform action ${action}. Nothing was changed.`,
    todo: 'Ask again. If it fails again, an operator finds the cause in the log of the daemon under the number of the action.',
  }),
});
