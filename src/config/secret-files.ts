import { readFileSync, statSync } from 'node:fs';
import { ConfigError, codeOf } from '../domain/errors.ts';
import { secretErrors, secretTexts } from '../texts/errors/config.ts';

/** A larger file is not a secret: the configuration names the wrong file. */
const longestSecretBytes = 65_536;
/** Bits of a file's mode: all rights of other users, the right of the group to write, all rights of the group. */
const rights = { others: 0o007, groupWrites: 0o020, group: 0o070 };

/** A fault of the configuration that does not stop the program. */
export interface ConfigWarning {
  message: string;
  todo: string;
}

export interface SecretFile {
  /** The text of the file, without a line end at its end. */
  secret: string;
  /** The warning about the file's permissions. Null if only the users that need the file may read it. */
  warning: ConfigWarning | null;
}

/** Reads a file that contains only a secret. Throws an error of Node.js, or an Error if the file is too large. */
export function readSecretFile(path: string): SecretFile {
  if (statSync(path).size > longestSecretBytes) throw new Error(secretTexts.tooLarge({ bytes: longestSecretBytes }));
  return { secret: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), warning: openToOthers(path) };
}

/**
 * Returns a warning if too many users may read or change a file with a secret. If another user owns the file, its group may
 * read it: systemd, Kubernetes and administrators give secrets to the program's group. Throws an error of Node.js.
 */
export function openToOthers(path: string): ConfigWarning | null {
  const { mode, uid } = statSync(path);
  // Even if the program runs as root: files of root are readable by the program's group.
  const isOwn = uid !== 0 && uid === process.getuid?.();
  if ((mode & (isOwn ? rights.others | rights.group : rights.others | rights.groupWrites)) === 0) return null;
  const newRights = isOwn ? '600' : 'g-w,o=';
  return secretTexts.openToOthers({ path, rights: (mode & 0o777).toString(8), newRights });
}

/** Reads the secret file that a key of the configuration names. Throws ConfigError if it is unreadable or empty. */
export function readConfiguredSecret(file: string, key: string, path: string): SecretFile {
  let read: SecretFile;
  try {
    read = readSecretFile(path);
  } catch (error) {
    const reason = codeOf(error) ?? (error instanceof Error ? error.message : String(error));
    throw new ConfigError(secretErrors.fileUnreadable({ file, key, path, reason }));
  }
  if (read.secret.trim() !== '') return read;
  throw new ConfigError(secretErrors.fileEmpty({ file, key, path }));
}
