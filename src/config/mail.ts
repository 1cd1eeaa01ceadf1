import type { z } from 'zod';
import type { Language } from '../texts/catalogue.ts';
import { keyError } from './check-config.ts';
import type { MailKind, mail, tlsModes } from './mail-schema.ts';

export interface Recipient {
  address: string;
  /** The installations that the mails are about. Null for all installations. */
  installations: readonly number[] | null;
  send: readonly MailKind[];
  language: Language;
  names: boolean;
}

export interface SmtpConfig {
  host: string;
  port: number;
  tls: (typeof tlsModes)[number];
  /** The login at the mail server. Null if the server needs none. */
  login: { user: string; password: string } | null;
}

export interface MailConfig {
  smtp: SmtpConfig;
  from: string;
  recipients: readonly Recipient[];
}

/** Throws ConfigError if a recipient is named twice, or names an unknown installation. */
export function readMail(
  file: string,
  written: z.output<typeof mail> | undefined,
  known: readonly { id: number }[],
): MailConfig | null {
  if (written === undefined) return null;
  const { smtp, from, recipients } = written;
  const seen = new Set<string>();
  for (const [index, { address: to, installations }] of recipients.entries()) {
    const key = `mail.recipients[${index}]`;
    if (seen.has(to.toLowerCase())) throw keyError(file, `${key}.address`, `names ${to} a second time`);
    seen.add(to.toLowerCase());
    const unknown = installations?.find((id) => known.every((installation) => installation.id !== id));
    if (unknown !== undefined)
      throw keyError(file, `${key}.installations`, `names the unknown installation ${unknown}`);
  }
  const { host, port = smtp.tls === 'implicit' ? 465 : 587, tls, user, password } = smtp;
  const login = user === undefined || password === undefined ? null : { user, password };
  return { smtp: { host, port, tls, login }, from, recipients };
}
