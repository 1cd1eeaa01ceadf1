import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const toLogIn = 'Run `vetledger erp login`. Delivery then continues automatically.';

/** Why the stored login to a company of the ERP cannot be used. `reason` is one of `loginReasons`; `erp` is its kind and address. */
export const loginErrors = catalogue('errors/erp-login.loginErrors', {
  needed: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_needed',
    message: `vetledger is not logged in to ${erp}: ${reason}`,
    todo: toLogIn,
  }),
  unreadable: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_unreadable',
    message: `vetledger cannot read its login to ${erp}: ${reason}`,
    todo: 'Set `secret_key`, or `old_secret_key`, to the key of the login. If the key is lost, run `vetledger erp login`.',
  }),
});

export const loginReasons = catalogue('errors/erp-login.loginReasons', {
  none: 'no person has logged in yet, or the login was ended',
  refused: ({ day }: { day: string }): string => `the ERP no longer accepts the login of ${day}`,
  refusedAfterLoss: ({ day, at }: { day: string; at: string }): string =>
    `the ERP no longer accepts the login of ${day}, because the answer to a renewal at ${at} was lost`,
  refusedOnce: ({ erp }: { erp: string }): string => `${erp} refused to renew the login, and vetledger tries once more`,
  noAnswer: ({ erp, reason }: { erp: string; reason: string }): string =>
    `the answer of ${erp} to the renewal of the login was lost: ${reason}`,
  badAnswer: 'it has no usable token',
  renewedElsewhere: 'another process is renewing the login',
  copy: 'this database is a copy, and the login belongs to its original',
  noKey: 'the configuration has no `secret_key`',
  otherKey: ({ key }: { key: string }): string =>
    `it is sealed with the key ${key}, which the configuration does not have`,
  damaged: 'the stored text was changed, or belongs to another company',
});
