import type { CalendarDate, InstallationId } from '../../terms.ts';

/**
 * Roles and what they permit. A role belongs to one installation, except `admin`, which manages users and reads no books.
 */
export const roles = ['viewer', 'bookkeeper', 'accountant', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

export const permissions = [
  /** Books and documents, with names of clients. */
  'read_books',
  /** Windows, deliveries and processes, without names of clients. */
  'read_operations',
  /** Decide about held and late documents, match prepayments, approve deliveries. */
  'decide',
  /** Send entries again, undo deliveries, and acknowledge imported files. */
  'deliver',
  /** Compare the books with the practice software and the ERP. */
  'reconcile',
  /** Close and reopen the books, approve mappings, mark VAT returns as filed. */
  'close',
  /** Replay, pause and resume windows and deliveries. */
  'operate',
  /** Add users, and change their roles. */
  'manage_users',
] as const;
export type Permission = (typeof permissions)[number];

const permitted: Record<Role, readonly Permission[]> = {
  viewer: ['read_books', 'read_operations'],
  bookkeeper: ['read_books', 'read_operations', 'decide', 'deliver', 'reconcile'],
  accountant: ['read_books', 'read_operations', 'decide', 'deliver', 'reconcile', 'close'],
  operator: ['read_operations', 'deliver', 'reconcile', 'operate'],
  admin: ['manage_users'],
};

/** A role of a subject. `installation` is null for `admin`. `until` is its last day, or null. */
export interface GrantedRole {
  role: Role;
  installation: InstallationId | null;
  until: CalendarDate | null;
}

/** What a subject may do on a day, by installation. */
export class Rights {
  readonly #roles: readonly GrantedRole[];

  constructor(granted: readonly GrantedRole[], today: CalendarDate) {
    this.#roles = granted.filter(({ until }) => until === null || until >= today);
  }

  /** Whether the subject may do this in the installation (null: in the whole database). */
  may(permission: Permission, installation: InstallationId | null): boolean {
    return this.#roles.some(
      (granted) => granted.installation === installation && permitted[granted.role].includes(permission),
    );
  }

  /** The installations in which the subject may do this. */
  where(permission: Permission): InstallationId[] {
    const ids = this.#roles.flatMap(({ role, installation }) =>
      installation !== null && permitted[role].includes(permission) ? installation : [],
    );
    return [...new Set(ids)].sort((a, b) => a - b);
  }

  /** The roles in an installation, for its head. */
  rolesIn(installation: InstallationId | null): Role[] {
    return this.#roles.flatMap((granted) => (granted.installation === installation ? granted.role : []));
  }
}
