import { z } from 'zod';
import type { MailKind } from '../config/mail-schema.ts';
import { documentKinds, type InstallationId } from '../terms.ts';

/** The topics that are watched for a recipient, with the kind of mail for each. */
export const topics = {
  chain: 'at_once',
  equations: 'at_once',
  erp_refused: 'at_once',
  books: 'at_once',
  mapping: 'at_once',
  daily: 'daily',
  monthly: 'monthly',
} as const satisfies Record<string, MailKind>;
export type Topic = keyof typeof topics;

/** The mails that a recipient gets about an installation. */
export interface Subscription {
  installation: InstallationId;
  recipient: string;
  topic: Topic;
}

/** Limits of one mail. The commands that it names show the rest. */
export const linesAtMost = 20;
export const noticesAtMost = 20;

/** A document in a mail. Its number is the printed one; it has no name and no text of the source. */
const line = z.strictObject({
  /** The document. Null for a daily summary. */
  ref: z.strictObject({ kind: z.enum(documentKinds), id: z.int() }).nullable(),
  /** The document as text, such as `invoice 123`. */
  document: z.string(),
  number: z.string().nullable(),
  /** A decimal of the installation's currency. */
  amount: z.string().nullable(),
  date: z.string().nullable(),
  code: z.string(),
});
export type MailLine = z.infer<typeof line>;

const instant = z.iso.datetime();
/** Sections of remarks; each has the name of its code. */
export const remarkSections = ['prepayment_unmatched', 'overpaid', 'paid_on_voided'] as const;
/** The sections of a daily mail, in their order. */
export const dailySections = ['held', 'late', 'missing', ...remarkSections] as const;
export type DailySection = (typeof dailySections)[number];

/** The items of the checklist of a close. */
export const closingItems = [
  ...(['last_window', 'held', 'late', 'drafts', 'undelivered', 'remarks', 'differences', 'clearing'] as const),
  ...(['owed_as_revenue', 'liabilities_in_debit', 'vat_returns'] as const),
] as const;

/** The content of a mail as data. */
export const notice = z.discriminatedUnion('about', [
  /** The names of the failed checks; none if all hold again. */
  z.strictObject({ about: z.literal('checks'), failing: z.array(z.string()), at: instant }),
  /** The first refusal for a reason. `count` is 0 if the ERP refuses every request. */
  z.strictObject({
    about: z.literal('erp_refused'),
    ...{ code: z.string(), count: z.int(), lines: z.array(line), at: instant },
  }),
  z.strictObject({
    about: z.enum(['close', 'reopen']),
    /** The last closed day from now on. */
    through: z.string(),
    ...{ by: z.string().nullable(), second: z.string().nullable(), at: instant },
  }),
  z.strictObject({
    about: z.literal('mapping'),
    ...{ number: z.int(), version: z.string().nullable(), approved_by: z.string().nullable() },
    /** The user who changed the mapping. Null if a start or reload of the daemon loaded the file. */
    ...{ by: z.string().nullable(), at: instant },
  }),
  z.strictObject({
    about: z.literal('daily'),
    day: z.string(),
    sections: z.array(
      z.strictObject({
        what: z.enum(dailySections),
        /** The number of documents since the last mail, and of all open ones. */
        ...{ count: z.int(), open: z.int() },
        /** The new documents by kind, since amounts are not added across kinds. */
        sums: z.array(z.strictObject({ kind: z.enum(documentKinds), count: z.int(), amount: z.string().nullable() })),
        lines: z.array(line),
      }),
    ),
  }),
  z.strictObject({
    about: z.literal('monthly'),
    through: z.string(),
    missing: z.array(
      z.strictObject({
        item: z.enum(closingItems),
        count: z.int(),
        /** The number by code, state or equation. */
        parts: z.record(z.string(), z.int()),
      }),
    ),
  }),
]);
export type Notice = z.infer<typeof notice>;
export type NoticeAbout<About extends Notice['about']> = Extract<Notice, { about: About }>;
