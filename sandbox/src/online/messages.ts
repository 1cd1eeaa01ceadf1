// Text messages and e-mails. Nothing leaves this machine: they are recorded, and read at `/sandbox/messages` of this machine.
// Not shown, and chosen: a channel that the client declines (`no_sms`, `no_email`) is not used, also for an address that the request
// names. A number or address that is missing, or that cannot exist (`.invalid`, +999), makes the delivery fail on that channel.
// Anything sent makes it Sent; nothing sent, Failed where a channel failed, else Not sent.
import type { Clinic } from '../clinic.ts';
import { mobileOf } from '../people.ts';
import type { Client } from '../records.ts';
import { type DeliveryMethod, type DeliveryStatus, deliveryMethod, deliveryStatus } from '../state/online.ts';

/** Where one can be reached. Empty text: not known. */
export interface Recipient {
  email: string;
  phone: string;
  /** Whose wishes count; null for somebody who is no client. */
  client: Client | null;
}

export interface Text {
  subject: string;
  text: string;
  /** The payment page that it leads to. */
  payment_link?: string;
}

export type ChannelResult = 'sent' | 'failed' | 'not sent';

export interface Delivered {
  email: ChannelResult;
  sms: ChannelResult;
  status: DeliveryStatus;
}

/** Where a client is reached by default: its e-mail address and its first mobile number. */
export const recipientOf = (clinic: Clinic, client: Client | null): Recipient => {
  if (client === null) return { email: '', phone: '', client };
  return { email: client.email, phone: mobileOf(clinic, client.id)?.phone_number ?? '', client };
};

/** Sends a text by the channels of `method`. */
export const send = (clinic: Clinic, method: DeliveryMethod, recipient: Recipient, text: Text): Delivered => {
  const { client } = recipient;
  const by = (channel: 'email' | 'sms', isAsked: boolean): ChannelResult => {
    const isDeclined = channel === 'email' ? client?.no_email : client?.no_sms;
    if (!isAsked || isDeclined) return 'not sent';
    return record(clinic, channel, channel === 'email' ? recipient.email : recipient.phone, text);
  };
  const email = by('email', method === deliveryMethod.both || method === deliveryMethod.email);
  const sms = by('sms', method === deliveryMethod.both || method === deliveryMethod.sms);
  return { email, sms, status: statusOf([email, sms]) };
};

const record = (clinic: Clinic, channel: 'email' | 'sms', recipient: string, text: Text): ChannelResult => {
  if (recipient === '') return 'failed';
  const delivered = !(channel === 'email' ? /\.invalid$/i : /^\+999/).test(recipient);
  const { payment_link = null } = text;
  clinic.insert(clinic.online.messages, { channel, recipient, ...text, payment_link, delivered });
  return delivered ? 'sent' : 'failed';
};

const statusOf = (results: ChannelResult[]): DeliveryStatus => {
  if (results.includes('sent')) return deliveryStatus.sent;
  return results.includes('failed') ? deliveryStatus.failed : deliveryStatus.notSent;
};

const shownAtOnce = 1000;

/** The messages after an id, oldest first, at most a thousand; `payment_link` as the address of the page. */
export const shownMessages = (clinic: Clinic, payBase: string, after: number): object[] =>
  clinic.online.messages
    .select({ idGreaterThan: after })
    .slice(0, shownAtOnce)
    .map(({ payment_link, created, modified, ...message }) => ({
      ...message,
      at: new Date(created).toISOString(),
      payment_link: payment_link === null ? null : `${payBase}/${payment_link}`,
    }));
