import { catalogue } from '../catalogue.ts';

/** Questions and results of `vetledger erp login` and `vetledger erp logout`. */
export const erpLoginTexts = catalogue('commands/erp-login.erpLoginTexts', {
  open: ({ erp, installation }: { erp: string; installation: number }): string =>
    `Open this address in a browser, as a user of ${erp} who may connect apps to the company of installation ${installation}:`,
  agree: ({ redirectUrl }: { redirectUrl: string }): string =>
    `Agree there. The browser then goes to an address that begins with ${redirectUrl}. It may show an error: only the address matters.`,
  paste: 'Paste that address here:',
  notIt: 'This is not the address of this login. Paste the whole address from the browser’s address bar.',
  isCompany: ({
    erp,
    name,
    id,
    installation,
  }: {
    erp: string;
    name: string;
    id: string;
    installation: number;
  }): string =>
    `${erp} answers with the company “${name}” (${id}). Deliver the books of installation ${installation} to it?`,
  loggedIn: ({ erp, name, id }: { erp: string; name: string; id: string }): string =>
    `vetledger is logged in to “${name}” (${id}) of ${erp}. Deliveries continue automatically.`,
  unusedDays: ({ days }: { days: number }): string =>
    `The login ends after ${days} days in which vetledger does not use it. A running daemon uses it daily.`,
  notKept: 'Nothing was stored.',
  endQuestion: ({ erp, name, installation }: { erp: string; name: string; installation: number }): string =>
    `End the login to “${name}” of ${erp}? Deliveries of installation ${installation} then wait.`,
  none: ({ erp }: { erp: string }): string => `vetledger is not logged in to ${erp}.`,
  ended: ({ erp, name }: { erp: string; name: string }): string => `The login to “${name}” of ${erp} has ended.`,
  notRevoked: ({ erp }: { erp: string }): string =>
    `${erp} did not confirm it. Remove vetledger from the connected apps in ${erp}, too.`,
});
