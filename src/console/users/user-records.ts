import { bool, date, instant, integer, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { type Role, roles } from './rights.ts';

/** A user with a role in an installation. */
export interface GrantedUser {
  name: string;
  role: Role;
  until: string | null;
  isDisabled: boolean;
}

/** The users with a role in an installation. */
export function usersOf(db: Connection, installation: InstallationId): Promise<GrantedUser[]> {
  return rows(
    db,
    { name: text, role: oneOf(roles), until: nullable(date), isDisabled: bool },
    `select s.name, r.role, r.until, s.disabled_at is not null as "isDisabled"
     from vetledger_console.subject_role r join vetledger_console.subject s on s.id = r.subject_id
     where r.installation = ? order by s.name, r.role limit 1000`,
    [installation],
  );
}

export const signInOutcomes = ['signed_in', 'refused', 'throttled', 'signed_out'] as const;

/** An attempt to sign in, or a sign-out, of a known user. */
export interface RecordedSignIn {
  id: number;
  name: string;
  at: Date;
  outcome: (typeof signInOutcomes)[number];
  address: string;
}

/** The sign-ins of the users who have a role in an installation, the newest first. */
export function signInsOf(
  db: Connection,
  installation: InstallationId,
  { after, limit }: { after: number | null; limit: number },
): Promise<RecordedSignIn[]> {
  return rows(
    db,
    { id: integer, name: text, at: instant, outcome: oneOf(signInOutcomes), address: text },
    `select i.id, s.name, i.at, i.outcome, i.address
     from vetledger_console.sign_in i join vetledger_console.subject s on s.id = i.subject_id
     where exists (select from vetledger_console.subject_role r where r.subject_id = s.id and r.installation = ?)
       and (?::bigint is null or i.id < ?) order by i.id desc limit ?`,
    [installation, after, after, limit],
  );
}
