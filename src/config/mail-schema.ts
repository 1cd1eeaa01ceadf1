import { z } from 'zod';
import { languages } from '../texts/catalogue.ts';
import { flag, number, onlyFromEnvironment, text } from './scalars.ts';

/** The kinds of mail. `at_once`: an event, within a minute. `daily`: new problems and remarks. `monthly`: what a close still needs. */
export const mailKinds = ['at_once', 'daily', 'monthly'] as const;
export type MailKind = (typeof mailKinds)[number];

export const tlsModes = ['starttls', 'implicit', 'none'] as const;

/** An address without a display name, so that no header can be injected. */
const address = text
  .max(254, 'must have at most 254 characters')
  .regex(/^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z\d.-]+$/, 'must be a mail address such as books@clinic.example');

const smtp = z
  .strictObject({
    host: text.regex(/^[A-Za-z\d.:-]+$/, 'must be the name or address of a host').describe('Mail server.'),
    port: number
      .refine((port) => Number.isInteger(port) && port > 0 && port < 65_536, 'must be a port, from 1 to 65535')
      .optional()
      .describe('Default: 587, and 465 with `tls: implicit`.'),
    tls: z
      .enum(tlsModes, { error: `must be ${tlsModes.join(', ')}` })
      .default('starttls')
      .describe(
        '`starttls`: the connection changes to TLS before anything is sent. `implicit`: TLS from the beginning. `none`: no TLS, only to this machine. The certificate is always checked.',
      ),
    user: text.optional().describe('Login. Default: no login.'),
    password: text.optional().describe(onlyFromEnvironment),
    allow_insecure: flag.describe('Whether `tls: none` is allowed to another machine.'),
  })
  .superRefine(({ user, password }, context) => {
    if ((user === undefined) === (password === undefined)) return;
    context.addIssue({ code: 'custom', message: 'needs both user and password, or neither' });
  });

const recipient = z.strictObject({
  address: address.describe('Mail address.'),
  installations: z
    .union([z.literal('all').transform(() => null), z.array(number).min(1)], {
      error: 'must be `all` or a list of installation ids',
    })
    .prefault('all')
    .describe('Installations that the recipient gets mail about.'),
  send: z
    .array(z.enum(mailKinds, { error: `must be ${mailKinds.join(', ')}` }), { error: 'must be a list' })
    .min(1, 'must name at least one kind of mail')
    .prefault([...mailKinds])
    .describe(
      '`at_once`: a broken chain or equation, the first refusal of the ERP for a reason, closes, reopenings, a changed mapping. `daily`: new problems and remarks, at 7:00 in the time zone of the clinic. `monthly`: what a close lacks, on the first and tenth day.',
    ),
  language: z
    .enum(languages, { error: `must be ${languages.join(', ')}` })
    .default('en')
    .describe('Language of the mails.'),
  names: flag.describe('Whether mails contain the names of clients. Default: only document numbers.'),
});

const recipientsAtMost = 50;

/** `mail` of the configuration. */
export const mail = z
  .strictObject({
    smtp: smtp.describe('The mail server.'),
    from: address.describe('Address of the sender.'),
    recipients: z
      .array(recipient, { error: 'must be a list of recipients' })
      .min(1, 'must name at least one recipient')
      .max(recipientsAtMost, `must name at most ${recipientsAtMost} recipients`)
      .describe('Who gets which mail.'),
  })
  .describe('Mail that `vetledger run` sends. Default: none.');
