// Credential sets: actions of clinic staff on their wholesalers (practice-api: States: Wholesaler credential set).
// Tests, live events and the control endpoints call these functions. Records are archived and never deleted, so that
// ids are not reused.
import type { Clinic } from '../clinic.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Wholesaler } from '../state/supply.ts';
import { emitWholesaler } from './events.ts';

export interface Credentials {
  customer_number?: string | null | undefined;
  customer_username?: string | null | undefined;
  customer_password?: string | null | undefined;
  /** The department that uses the credentials. Null means the whole clinic. */
  department?: number | null | undefined;
}

/** Finds a credential set, active or archived. Throws NotFound. */
export const wholesalerOf = (clinic: Clinic, id: number): Wholesaler => {
  const wholesaler = clinic.supply.wholesalers.get(id);
  if (!wholesaler) throw new NotFound();
  return wholesaler;
};

/** The active credential sets of an available wholesaler. */
const setsOf = (clinic: Clinic, available: number): Wholesaler[] =>
  clinic.supply.wholesalers.of(available).filter((wholesaler) => !wholesaler.archived);

/** The set of a department, or the clinic-wide set for null; undefined if there is none. */
export const setFor = (clinic: Clinic, available: number, department: number | null): Wholesaler | undefined =>
  setsOf(clinic, available).find((wholesaler) => wholesaler.department === department);

const checkLocation = (clinic: Clinic, available: number, department: number | null, except: number | null): void => {
  if (department !== null && !clinic.departments.has(department)) {
    throw new ValidationProblem('department', 'There is no such location.');
  }
  const other = setFor(clinic, available, department);
  if (other && other.id !== except) {
    throw new ValidationProblem('department', `Credential set ${other.id} is for the same location.`);
  }
};

/** Links an available wholesaler to the whole clinic or to one location. Sends `wholesaler.created`. */
export const connectWholesaler = (clinic: Clinic, availableId: number, credentials: Credentials = {}): Wholesaler =>
  clinic.commit(() => {
    const available = clinic.supply.available.get(availableId);
    if (!available) throw new NotFound();
    const { customer_number = null, customer_username = null, customer_password = null } = credentials;
    const department = credentials.department ?? null;
    checkLocation(clinic, availableId, department, null);
    const wholesaler = clinic.insert(clinic.supply.wholesalers, {
      ...{ name: available.name, type: 'Integration', available_wholesaler: availableId },
      ...{ customer_number, customer_username, customer_password, department, archived: false },
    });
    emitWholesaler(clinic, 'created', wholesaler);
    // Locations with the same username share a password.
    if (customer_password !== null) sharePassword(clinic, wholesaler);
    return wholesaler;
  }, 'request');

/** Changes credentials or location. Sends `wholesaler.updated` for each set that changed. */
export const changeCredentials = (clinic: Clinic, id: number, changes: Credentials): Wholesaler =>
  clinic.commit(() => {
    const wholesaler = activeSet(clinic, id);
    const { available_wholesaler } = wholesaler;
    if (changes.department !== undefined && available_wholesaler !== null) {
      checkLocation(clinic, available_wholesaler, changes.department, id);
    }
    const isChanged = change(clinic, wholesaler, { ...changes, ...takenOver(clinic, wholesaler, changes) });
    if (isChanged && wholesaler.customer_password !== null) sharePassword(clinic, wholesaler);
    return wholesaler;
  }, 'request');

/** The password of the other credential set that already has the new username. */
const takenOver = (clinic: Clinic, wholesaler: Wholesaler, changes: Credentials): Credentials => {
  const username = changes.customer_username;
  if (username == null || username === wholesaler.customer_username || changes.customer_password != null) return {};
  const other = setsOf(clinic, wholesaler.available_wholesaler ?? 0).find((set) => set.customer_username === username);
  return other ? { customer_password: other.customer_password } : {};
};

/** Copies the set's password to the other sets with its username. */
const sharePassword = (
  clinic: Clinic,
  { id, available_wholesaler, customer_username, customer_password }: Wholesaler,
) => {
  if (customer_username === null || available_wholesaler === null) return;
  for (const other of setsOf(clinic, available_wholesaler)) {
    if (other.id !== id && other.customer_username === customer_username) change(clinic, other, { customer_password });
  }
};

const change = (clinic: Clinic, wholesaler: Wholesaler, changes: Credentials): boolean => {
  const real = Object.entries(changes).filter(
    ([name, value]) => value !== undefined && value !== wholesaler[name as keyof Wholesaler],
  );
  if (real.length === 0) return false;
  clinic.update(clinic.supply.wholesalers, wholesaler, Object.fromEntries(real) as Partial<Wholesaler>);
  emitWholesaler(clinic, 'updated', wholesaler);
  return true;
};

/**
 * Archives a set: a location stops using separate credentials, or staff remove the clinic-wide set. Sends
 * `wholesaler.deleted`.
 */
export const archiveWholesaler = (clinic: Clinic, id: number): void =>
  clinic.commit(() => {
    const wholesaler = activeSet(clinic, id);
    clinic.update(clinic.supply.wholesalers, wholesaler, { archived: true });
    emitWholesaler(clinic, 'deleted', wholesaler);
  }, 'request');

/** Archives all credential sets of a wholesaler for staff. Sends `wholesaler.deleted` for each. */
export const removeWholesaler = (clinic: Clinic, available: number): void =>
  clinic.commit(() => {
    for (const wholesaler of setsOf(clinic, available)) archiveWholesaler(clinic, wholesaler.id);
  }, 'request');

/**
 * Archives the clinic's sets when the integration deletes its registration. It sends no event, because there is no
 * receiver.
 */
export const unlinkWholesalers = (clinic: Clinic, available: number): void => {
  for (const wholesaler of setsOf(clinic, available)) {
    clinic.update(clinic.supply.wholesalers, wholesaler, { archived: true });
  }
};

const activeSet = (clinic: Clinic, id: number): Wholesaler => {
  const wholesaler = wholesalerOf(clinic, id);
  if (wholesaler.archived) throw new NotFound();
  return wholesaler;
};
