import { catalogue } from '../catalogue.ts';

/** Texts of the frame of every page of the console. */
export const consoleTexts = catalogue('console/console.consoleTexts', {
  product: 'vetledger',
  hostRefused: 'The console does not answer to this host name. An administrator adds it to `console.hosts`.',
  skip: 'Skip to the content',
  screens: 'Screens',
  signOut: 'Sign out',
  booksOpen: 'no period is closed',
  booksClosed: ({ through, by }: { through: string; by: string | null }) =>
    `closed through ${through}${by === null ? '' : ` by ${by}`}`,
  booksReopened: ({ through, by }: { through: string; by: string | null }) =>
    `reopened${by === null ? '' : ` by ${by}`}; closed through ${through}`,
  filter: 'Filter',
  search: 'Search',
  all: 'all',
  total: 'Total',
  nothing: 'Nothing to show.',
  csv: 'CSV',
  nextPage: 'Next page',
  firstPage: 'First page',
  yes: 'yes',
  no: 'no',
});

/** The names of the screens. */
export const screenNames = catalogue('console/console.screenNames', {
  clinics: 'Clinics',
  month: 'Month',
  decide: 'To decide',
  documents: 'Documents',
  reports: 'Reports',
  mapping: 'Mapping',
  delivery: 'Delivery',
  windows: 'Windows',
  machine: 'Machine',
  audit: 'Audit',
  users: 'Users',
});

/** Pages about errors. Each says what happened and what to do. */
export const consoleErrors = catalogue('console/console.consoleErrors', {
  missingTitle: 'Not found',
  missing:
    'This page does not exist, or you have no right to see it. Check the address, or ask an administrator for a role.',
  formTitle: 'Form refused',
  form: 'The form did not come from a page of this session. Nothing was changed. Open the page again and repeat the entry.',
  signedOutTitle: 'Signed out',
  signedOut: 'The session has ended. Nothing was changed. Sign in and repeat the entry.',
  malformedTitle: 'Request refused',
  malformed: 'The request is too large or malformed. Nothing was changed. Go back and try again.',
  busyTitle: 'One report at a time',
  busy: 'Another report is being made for you. Wait until it is shown, then load this page again.',
  failedTitle: 'Error',
  failed: ({ id }: { id: string }) =>
    `The page could not be made. Try again. If it fails again, give an operator this number; the log of the console explains it: ${id}`,
});

/** Signing in, and the page of the subject. */
export const signInTexts = catalogue('console/console.signInTexts', {
  title: 'Sign in',
  name: 'User name',
  password: 'Password',
  submit: 'Sign in',
  refused: 'The user name or the password is wrong.',
  throttled: 'There were too many wrong attempts. Wait 15 minutes and try again.',
  linkTitle: 'Sign in with a link',
  linkSubmit: ({ name }: { name: string }) => `Sign in as ${name}`,
  linkOver: 'This link was used, or its time is over. Ask an administrator for a new one.',
  choosePassword: ({ name }: { name: string }) => `Choose a password for ${name}`,
  newPassword: 'New password',
  newPasswordAgain: 'New password again',
  passwordRule: ({ min }: { min: number }) => `At least ${min} characters. A sentence is easy to remember.`,
  passwordShort: ({ min, max }: { min: number; max: number }) => `The password must have ${min} to ${max} characters.`,
  passwordDiffers: 'The two passwords differ.',
  passwordSubmit: 'Set password',
  passwordWrong: 'The present password is wrong.',
  presentPassword: 'Present password',
  changePassword: 'Change password',
  accountTitle: 'Account',
  language: 'Language',
  languageSubmit: 'Change language',
  roles: 'Roles',
  installation: 'Installation',
  role: 'Role',
  until: 'Until',
});

export const roleNames = catalogue('console/console.roleNames', {
  viewer: 'viewer',
  bookkeeper: 'bookkeeper',
  accountant: 'accountant',
  operator: 'operator',
  admin: 'administrator of users',
});
