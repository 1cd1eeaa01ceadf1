import { readFileSync, statSync } from 'node:fs';
import { ConfigError, codeOf } from '../domain/errors.ts';

/** No secret is longer; a file that is was named by mistake. */
const longestSecretBytes = 65_536;
/** Whom a file is open to: other users, a group that may change it, a group that may read it. */
const rights = { others: 0o007, groupWrites: 0o020, group: 0o070 };

/** What is not as it should be, and does not keep anything from working. */
export interface ConfigWarning {
  message: string;
  todo: string;
}

export interface SecretFile {
  /** Without the line end that editors leave. */
  secret: string;
  /** Null: only who needs it may read it. */
  warning: ConfigWarning | null;
}

/** Reads a file that holds a secret and nothing else. Throws an error of Node's, or Error where the file is too large. */
export function readSecretFile(path: string): SecretFile {
  if (statSync(path).size > longestSecretBytes) throw new Error(`it is larger than ${longestSecretBytes} bytes`);
  return { secret: readFileSync(path, 'utf8').replace(/\r?\n$/, ''), warning: openToOthers(path) };
}

/**
 * A warning where a file with a secret is open to more than its users. A group may read the file of another owner: secrets that
 * systemd, Kubernetes or an administrator give to this program are readable by its group. Throws an error of Node's.
 */
export function openToOthers(path: string): ConfigWarning | null {
  const { mode, uid } = statSync(path);
  // What belongs to root is given to the program's group.
  const isOwn = uid !== 0 && uid === process.getuid?.();
  if ((mode & (isOwn ? rights.others | rights.group : rights.others | rights.groupWrites)) === 0) return null;
  return {
    message: `${path} holds a secret, and others on this machine may read or change it (rights ${(mode & 0o777).toString(8)}).`,
    todo: `Take the rights away (chmod ${isOwn ? '600' : 'g-w,o='} ${path}), and change the secret if others may have read it.`,
  };
}

/** The same for a value of the configuration, which names the file at `key`. Throws ConfigError. */
export function readConfiguredSecret(file: string, key: string, path: string): SecretFile {
  let read: SecretFile;
  try {
    read = readSecretFile(path);
  } catch (error) {
    const reason = codeOf(error) ?? (error instanceof Error ? error.message : String(error));
    throw new ConfigError({
      code: 'secret_file_unreadable',
      message: `${file}: ${key} names the file ${path}, which cannot be read (${reason}).`,
      todo: 'Correct the path, which is relative to the configuration file, or the rights of the file.',
    });
  }
  if (read.secret.trim() !== '') return read;
  throw new ConfigError({
    code: 'secret_file_unreadable',
    message: `${file}: ${key} names the file ${path}, which is empty.`,
    todo: 'Write the secret into it.',
  });
}
