// Text messages and e-mails. The sandbox sends none of them: it records them, and this machine can read them at
// `/sandbox/messages`.
// Choices of the sandbox: a channel that the client declines (`no_sms`, `no_email`) is not used, even if the request
// names an address. A delivery fails on a channel whose number or address is missing, or cannot exist (`.invalid`,
// +999). The state is Sent if a channel succeeded, Failed if only failures occurred, and otherwise Not sent.
import type { Clinic } from '../clinic.ts';
import { mobileOf } from '../people.ts';
import type { Client } from '../records.ts';
import { type DeliveryMethod, type DeliveryStatus, deliveryMethod, deliveryStatus } from '../state/online.ts';

/** The addresses of a recipient. An empty text means that the address is unknown. */
export interface Recipient {
  email: string;
  phone: string;
  /** The client whose preferences count; null if the recipient is not a client. */
  client: Client | null;
}

export interface Text {
  subject: string;
  text: string;
  /** The token of the payment page that the text links to. */
  payment_link?: string;
}

export type ChannelResult = 'sent' | 'failed' | 'not sent';

export interface Delivered {
  email: ChannelResult;
  sms: ChannelResult;
  status: DeliveryStatus;
}

/** A client's default addresses: the e-mail address and the first mobile number. */
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

/** At most a thousand messages with a higher id, oldest first. `payment_link` is the full address of the page. */
export const shownMessages = (clinic: Clinic, payBase: string, after: number): object[] =>
  clinic.online.messages
    .select({ idGreaterThan: after })
    .slice(0, shownAtOnce)
    .map(({ payment_link, created, modified, ...message }) => ({
      ...message,
      at: new Date(created).toISOString(),
      payment_link: payment_link === null ? null : `${payBase}/${payment_link}`,
    }));
