import { readFileSync, statSync } from 'node:fs';
import { ConfigError, codeOf } from '../domain/errors.ts';

/** No secret is longer; a file that is was named by mistake. */
const longestSecretBytes = 65_536;
/** Rights of the group and of everybody else. */
const othersMay = 0o077;

export interface SecretFile {
  /** Without the line end that editors leave. */
  secret: string;
  /** Who beside its owner may read it; null: nobody. */
  warning: string | null;
}

/** Reads a file that holds a secret and nothing else. Throws an error of Node's, or Error where the file is too large. */
export function readSecretFile(path: string): SecretFile {
  const { mode, size } = statSync(path);
  if (size > longestSecretBytes) throw new Error(`it is larger than ${longestSecretBytes} bytes`);
  const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  const rights = (mode & 0o777).toString(8);
  // Secrets that Kubernetes or systemd mount are readable by a group of their own.
  const warning =
    (mode & othersMay) === 0
      ? null
      : `${path} holds a secret, and others on this machine may read it (rights ${rights}): chmod 600 ${path}`;
  return { secret, warning };
}

/** The same for a value of the configuration, which names the file at `key`. Throws ConfigError. */
export function readConfiguredSecret(file: string, key: string, path: string): SecretFile {
  let read: SecretFile;
  try {
    read = readSecretFile(path);
  } catch (error) {
    const reason = codeOf(error) ?? (error instanceof Error ? error.message : String(error));
    throw new ConfigError(
      'secret_file_unreadable',
      `${file}: ${key} names the file ${path}, which cannot be read (${reason}).`,
      'Correct the path, which is relative to the configuration file, or the rights of the file.',
    );
  }
  if (read.secret.trim() !== '') return read;
  throw new ConfigError(
    'secret_file_unreadable',
    `${file}: ${key} names the file ${path}, which is empty.`,
    'Write the secret into it.',
  );
}
