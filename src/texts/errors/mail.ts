import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

interface Failure {
  /** Host and port. */
  server: string;
  reason: string;
}

const retried = 'vetledger tries again automatically. `vetledger doctor` tries it now.';

/** Errors of the mail server. */
export const mailErrors = catalogue('errors/mail.mailErrors', {
  unreachable: ({ server, reason }: Failure): PlainError => ({
    code: 'smtp_unreachable',
    message: `The mail server ${server} cannot be reached, or does not answer in time (${reason}).`,
    todo: `Check mail.smtp in the configuration, and the network. ${retried}`,
  }),
  loginRefused: ({ server, reason }: Failure): PlainError => ({
    code: 'smtp_login_refused',
    message: `The mail server ${server} refuses the login (${reason}).`,
    todo: `Check mail.smtp.user and the password. ${retried}`,
  }),
  tlsFailed: ({ server, reason }: Failure): PlainError => ({
    code: 'smtp_tls_failed',
    message: `No TLS connection to the mail server ${server} is possible (${reason}).`,
    todo: `Check mail.smtp.host, port and tls. If your own authority signed the certificate, set NODE_EXTRA_CA_CERTS to its file. ${retried}`,
  }),
  refused: ({ server, reason }: Failure): PlainError => ({
    code: 'smtp_refused',
    message: `The mail server ${server} refuses a mail (${reason}).`,
    todo: `Check mail.from and the address of the recipient. ${retried}`,
  }),
});
