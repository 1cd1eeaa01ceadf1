import { keepSecret } from '../domain/redact.ts';

/** A token or client secret of an installation. */
export interface Secret {
  current(): string;
  /**
   * Reads the secret again if it comes from a file. Returns whether it has changed. If the file cannot be read, the
   * secret stays as it was.
   */
  readAgain(): boolean;
}

/** A secret from the environment. It never changes while the process runs. */
export function fixedSecret(value: string): Secret {
  keepSecret(value);
  return { current: () => value, readAgain: () => false };
}

/** A secret from a file, with the present text `value`. `read` reads the file, and throws if that fails. */
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
        // The file may be in the middle of being replaced. The next 401 tries again.
        return false;
      }
      // A text that no HTTP header can contain is not a valid secret.
      if (found === current || !/^[\x20-\x7e]+$/.test(found)) return false;
      current = found;
      keepSecret(current);
      return true;
    },
  };
}
