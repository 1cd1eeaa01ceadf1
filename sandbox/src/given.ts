// What files and control requests give: names, and objects some of whose members are left out.
import { z } from 'zod';

/** A name that a client gives to something in the sandbox. */
export const givenName = (max = 64) =>
  z.string().regex(new RegExp(`^[\\w.-]{1,${max}}$`), `Send 1 to ${max} letters, digits, "_", "." or "-".`);

/** An object without the members that are undefined. */
export const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
