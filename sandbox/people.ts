// What other parts ask about clients and users: how a client can be reached, whether it may be written to, who acts.
import type { Application } from './auth.ts';
import type { Clinic } from './clinic.ts';
import type { Client } from './records.ts';
import type { PhoneNumber } from './state/people.ts';
import type { User } from './state/registers.ts';

/** The number that SMS go to: the client's first mobile number; null where there is none. */
export const mobileOf = (clinic: Clinic, clientId: number): PhoneNumber | null =>
  clinic.people.phoneNumbers.of(clientId).find((number) => number.type_code === 1) ?? null;

/**
 * Whether the client has valid communication preferences (practice-api: Errors). What makes them valid is not shown; here: the
 * client has said whether SMS and e-mail may be sent, which a request says by writing `no_sms` or `no_email`.
 */
export const hasValidPreferences = (client: Client): boolean => client.preferences_stated_at !== null;

/** The virtual user of an application, which its requests act as. Adds it to the users on its first act. */
export const userOf = (clinic: Clinic, application: Application): User => {
  const { users } = clinic.registers;
  const email = `${application.clientId || 'legacy-key'}@applications.example`;
  const known = users.all().find((user) => user.email === email);
  const name = { first_name: application.name, last_name: '' };
  return known ?? clinic.insert(users, { ...name, email, department: null, is_veterinarian: false });
};
