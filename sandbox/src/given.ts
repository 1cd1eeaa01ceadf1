// Schemas that settings files and control requests share.
import { z } from 'zod';

/** A name that a user gives to something in the sandbox, such as a snapshot. */
export const givenName = (max = 64) =>
  z.string().regex(new RegExp(`^[\\w.-]{1,${max}}$`), `Send 1 to ${max} letters, digits, "_", "." or "-".`);

/** A copy of the object without the members that are undefined. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
