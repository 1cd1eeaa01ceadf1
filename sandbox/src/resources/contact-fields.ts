// Fields for e-mail addresses, phone numbers and return addresses in requests.
import { z } from 'zod';

/** An e-mail address that has only characters of common addresses. */
export const emailAddress = () =>
  z
    .string('Not a valid string.')
    .max(254)
    .regex(/^[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,5}$/, 'Enter a valid email address.');

/** A phone number in international format. Spaces in it are removed. */
export const phoneNumber = () =>
  z
    .string('Not a valid string.')
    .regex(/^\+[1-9]( ?[0-9]){5,14}$/, 'Enter a phone number in international format.')
    .transform((value) => value.replaceAll(' ', ''));

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * The address of the page after a payment: https, or http on this machine. It has no user name and only printable ASCII
 * characters.
 */
export const returnUrl = () =>
  z
    .string('Not a valid string.')
    .max(2000)
    .regex(/^https?:\/\/[!#-;=?-[\]_a-z~]+$/, { error: 'Enter a valid URL.', abort: true })
    .refine((value) => isSafe(value), 'Enter a valid URL: https, without user name.');

const isSafe = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
};
