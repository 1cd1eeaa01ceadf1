import { keepSecret } from '../domain/redact.ts';

/** A token or client secret of an installation. */
export interface Secret {
  current(): string;
  /** Reads it anew where it is from a file; whether it has changed. One that cannot be read stays as it was. */
  readAgain(): boolean;
}

/** A secret of the environment, which stays the same while the process lives. */
export function fixedSecret(value: string): Secret {
  keepSecret(value);
  return { current: () => value, readAgain: () => false };
}

/** A secret of a file, whose text is `value`; `read` reads the file, and throws where it cannot. */
export function fileSecret(value: string, read: () => string): Secret {
  let current = value;
  keepSecret(current);
  return {
    current: () => current,
    readAgain: () => {
      let found: string;
      try {
        found = read();
      } catch {
        // The moment in which somebody replaces it, or its rights: the next 401 tries again.
        return false;
      }
      // What no header can carry is no secret yet.
      if (found === current || !/^[\x20-\x7e]+$/.test(found)) return false;
      current = found;
      keepSecret(current);
      return true;
    },
  };
}
