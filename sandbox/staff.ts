// The clinic's users as the API sees them (practice-api: Authentication 3: an application acts as its virtual user).
import type { Application } from './auth.ts';
import type { Clinic } from './clinic.ts';
import type { User } from './state/registers.ts';

/** The virtual user of an application; made when it is first needed. */
export const virtualUser = (clinic: Clinic, application: Application): User => {
  const email = `${application.clientId || 'legacy-key'}@applications.example`;
  const { users } = clinic.registers;
  const known = users.all().find((user) => user.email === email);
  if (known) return known;
  const fields = { first_name: '', last_name: application.name, email, department: null, is_veterinarian: false };
  return clinic.insert(users, fields);
};
