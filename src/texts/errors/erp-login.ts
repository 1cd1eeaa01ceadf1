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
  notUsed: ({ installation }: { installation: number }): PlainError => ({
    code: 'erp_login_unused',
    message: `The ERP of installation ${installation} needs no login by a person.`,
    todo: 'Set erp.redirect_url of the installation if persons log in to its ERP; docs/operators/erp-login.md explains it.',
  }),
  several: ({ n }: { n: number }): PlainError => ({
    code: 'installation_needed',
    message: `Persons log in to the ERPs of ${n} installations.`,
    todo: 'Give --installation.',
  }),
  noTerminal: (): PlainError => ({
    code: 'no_terminal',
    message: 'There is no terminal for the address that a person pastes.',
    todo: 'Run the command in a terminal. The browser may be on another machine.',
  }),
  otherAddress: (): PlainError => ({
    code: 'erp_login_address',
    message: 'This is not the address to which the ERP sent the browser at this login.',
    todo: 'Run `vetledger erp login` again, open its address, and paste the address from the browser’s address bar.',
  }),
  denied: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_denied',
    message: `${erp} does not permit the login: ${reason}`,
    todo: 'Run `vetledger erp login` again as a user who may connect apps, and agree to each right.',
  }),
  codeRefused: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_refused',
    message: `${erp} does not accept the login: ${reason}`,
    todo: 'Check erp.client_id, erp.client_secret and erp.redirect_url. Run `vetledger erp login` again, and paste the address within some minutes.',
  }),
  noRefreshToken: ({ erp }: { erp: string }): PlainError => ({
    code: 'erp_login_short',
    message: `${erp} gives this app no token that can be renewed.`,
    todo: 'Make an app in the ERP that may work without its user, and set erp.client_id to its id.',
  }),
  noToken: ({ erp }: { erp: string }): PlainError => ({
    code: 'erp_login_refused',
    message: `The answer of ${erp} to the login has no usable token.`,
    todo: 'Run `vetledger erp login` again.',
  }),
  failed: ({ erp, reason }: { erp: string; reason: string }): PlainError => ({
    code: 'erp_login_failed',
    message: `The login to ${erp} failed: ${reason}`,
    todo: 'Run `vetledger erp login` again.',
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
