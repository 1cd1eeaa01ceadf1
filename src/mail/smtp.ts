import { createTransport } from 'nodemailer';
import type { SmtpConfig } from '../config/mail.ts';
import { codeOf } from '../domain/errors.ts';
import { redact } from '../domain/redact.ts';
import { clip, visible } from '../domain/text.ts';
import { mailErrors } from '../texts/errors/mail.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** A mail as it is sent. The address of the recipient has no display name. */
export interface Letter {
  from: string;
  to: string;
  subject: string;
  text: string;
  /**
   * The id of the mail, with angle brackets. It is the same in each attempt, so that a mail program shows a repeated
   * mail once.
   */
  messageId: string;
  /** The id of the thread: the same for all mails about one cause. */
  thread: string;
  date: Date;
}

/** The mail server did not accept a mail. `isOfMail`: it refused this mail, and may accept others. */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly plain: PlainError;
  readonly isOfMail: boolean;

  constructor(plain: PlainError, isOfMail: boolean, cause: unknown) {
    super(plain.message, { cause });
    this.plain = plain;
    this.isOfMail = isOfMail;
  }
}

const answerWithinMs = 15_000;
/** Limit of one mail, shorter than the pause between two attempts. */
const sendWithinMs = 60_000;
const longestReason = 300;

/** Sends a mail in a new connection. Throws MailError, or the reason of `signal`. */
export async function sendLetter(smtp: SmtpConfig, letter: Letter, signal: AbortSignal): Promise<void> {
  const { from, to, subject, text, messageId, thread, date } = letter;
  await talk(smtp, signal, async (transport, ends) => {
    await transport.sendMail({
      ...{ from: { name: 'vetledger', address: from }, to: { name: '', address: to }, subject, text, messageId, date },
      ...{ references: [thread], inReplyTo: thread, signal: ends },
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  });
}

/** Connects and signs in, without sending anything. Throws MailError, or the reason of `signal`. */
export async function trySmtp(smtp: SmtpConfig, signal: AbortSignal): Promise<void> {
  await talk(smtp, signal, async (transport) => {
    await transport.verify();
  });
}

async function talk(
  smtp: SmtpConfig,
  signal: AbortSignal,
  work: (transport: ReturnType<typeof transportOf>, ends: AbortSignal) => Promise<void>,
): Promise<void> {
  const transport = transportOf(smtp);
  try {
    await work(transport, AbortSignal.any([signal, AbortSignal.timeout(sendWithinMs)]));
  } catch (error) {
    signal.throwIfAborted();
    throw errorOf(error, smtp);
  } finally {
    transport.close();
  }
}

function transportOf({ host, port, tls, login }: SmtpConfig) {
  return createTransport({
    ...{ host, port, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    ...{ connectionTimeout: answerWithinMs, greetingTimeout: answerWithinMs, socketTimeout: answerWithinMs },
    ...{ dnsTimeout: answerWithinMs, disableFileAccess: true, disableUrlAccess: true },
  });
}

function errorOf(error: unknown, { host, port }: SmtpConfig): MailError {
  const server = `${host}:${port}`;
  const reason = clip(visible(redact(error instanceof Error ? error.message : String(error))), longestReason);
  const code = codeOf(error);
  // A network error names the system call that failed. A TLS error does not.
  const isOfTls = code === 'ETLS' || (code === 'ESOCKET' && error instanceof Error && !('syscall' in error));
  if (isOfTls) return new MailError(mailErrors.tlsFailed({ server, reason }), false, error);
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return new MailError(mailErrors.loginRefused({ server, reason }), false, error);
    case 'EENVELOPE':
    case 'EMESSAGE':
      return new MailError(mailErrors.refused({ server, reason }), true, error);
    default:
      return new MailError(mailErrors.unreachable({ server, reason }), false, error);
  }
}
