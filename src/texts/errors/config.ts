import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const relativePath =
  'Correct the path, or give vetledger the right to read the file. A relative path starts at the folder of the configuration file.';

/** Errors of the configuration file. `file` is its path, and `key` is the path of a key in it. */
export const configErrors = catalogue('errors/config.configErrors', {
  /** `fault` follows the key, such as `must be a number`. */
  keyInvalid: ({ file, key, fault }: { file: string; key: string; fault: string }): PlainError => ({
    code: 'config_invalid',
    message: `${file}: ${key} ${fault}.`,
    todo: 'Correct it; docs/reference/CLI.md describes every key.',
  }),
  notATable: ({ file }: { file: string }): PlainError => ({
    code: 'config_invalid',
    message: `${file}: is not a table of settings.`,
    todo: 'docs/reference/CLI.md has an example.',
  }),
  unknownKey: ({
    file,
    key,
    nearest,
    known,
  }: {
    file: string;
    key: string;
    nearest: string | null;
    known: string;
  }): PlainError => ({
    code: 'config_unknown_key',
    message: `${file}: ${key} is not a key of the configuration.`,
    todo: nearest ? `Did you mean ${nearest}?` : `The keys there are ${known}.`,
  }),
  dialectInvalid: ({
    file,
    key,
    message,
    todo,
  }: {
    file: string;
    key: string;
    message: string;
    todo: string;
  }): PlainError => ({
    code: 'config_invalid',
    message: `${file}: ${key}: ${message}`,
    todo,
  }),
  namedFileUnreadable: ({
    file,
    key,
    path,
    reason,
  }: {
    file: string;
    key: string;
    path: string;
    reason: string;
  }): PlainError => ({
    code: 'config_invalid',
    message: `${file}: ${key} names ${path}, which cannot be read (${reason}).`,
    todo: relativePath,
  }),
  environmentMissing: ({
    file,
    key,
    name,
    isSet,
    isServer,
  }: {
    file: string;
    key: string;
    name: string;
    isSet: boolean;
    isServer: boolean;
  }): PlainError => ({
    code: 'environment_missing',
    message: `${file}: ${key} needs the environment variable ${name}, which is ${isSet ? 'empty' : 'not set'}.`,
    todo: `Set it, for example: export ${name}=…${isServer ? `. Or write \`embedded: true\` into ${file}: vetledger then uses the embedded server while the variable is not set.` : ''}`,
  }),
  ownerVariableMissing: ({ file }: { file: string }): PlainError => ({
    code: 'environment_missing',
    message: `${file}: migrate_database_url names an environment variable that is not set.`,
    todo: 'Set it to the URL of the owner of the tables for this command. If one role does all, remove migrate_database_url.',
  }),
  insecureConnection: ({
    file,
    key,
    what,
    remedy,
    permission,
  }: {
    file: string;
    key: string;
    what: string;
    remedy: string;
    permission: string;
  }): PlainError => ({
    code: 'insecure_connection',
    message: `${file}: ${key} ${what}: others on the network could read and change the data on this connection.`,
    todo: `${remedy}. If only you use this network, you can write ${permission}: true instead.`,
  }),
});

/** Insecure connections, and what to do about them; parts of `insecureConnection`. */
export const insecureParts = catalogue('errors/config.insecureParts', {
  http: { what: 'begins with http://', remedy: 'Write https://' },
  temporal: { what: 'is not on this machine, and temporal.tls is not set', remedy: 'Set temporal.tls' },
  smtp: {
    what: 'is not on this machine, and mail.smtp.tls is none',
    remedy: 'Set mail.smtp.tls to starttls or implicit',
  },
  database: {
    what: 'is not on this machine, and its sslmode allows a connection without TLS or with any certificate',
    remedy: 'Add sslmode=verify-full to it (and sslrootcert=FILE if you have your own certificate authority)',
  },
});

/** Errors and warnings about secrets. */
export const secretErrors = catalogue('errors/config.secretErrors', {
  inConfig: ({ file, key }: { file: string; key: string }): PlainError => ({
    code: 'secret_in_config',
    message: `${file}: ${key} contains a secret in the file itself.`,
    todo: `Put the secret into an environment variable and write \${NAME} there, or into a file and write \${file:PATH}. Change the secret if others could read the file.`,
  }),
  unusable: ({
    file,
    key,
    from,
    contains,
    todo,
  }: {
    file: string;
    key: string;
    from: string;
    contains: string;
    todo: string;
  }): PlainError => ({
    code: 'secret_unusable',
    message: `${file}: ${from}, for ${key}, contains ${contains}, which is not allowed in such a secret.`,
    todo,
  }),
  fileUnreadable: ({
    file,
    key,
    path,
    reason,
  }: {
    file: string;
    key: string;
    path: string;
    reason: string;
  }): PlainError => ({
    code: 'secret_file_unreadable',
    message: `${file}: ${key} names the file ${path}, which cannot be read (${reason}).`,
    todo: relativePath,
  }),
  fileEmpty: ({ file, key, path }: { file: string; key: string; path: string }): PlainError => ({
    code: 'secret_file_unreadable',
    message: `${file}: ${key} names the file ${path}, which is empty.`,
    todo: 'Write the secret into it.',
  }),
  sealKeyUnusable: ({ file }: { file: string }): PlainError => ({
    code: 'seal_key_unusable',
    message: `${file}: seal_key is not an Ed25519 private key in PEM.`,
    todo: 'Make a key with `openssl genpkey -algorithm ed25519 -out seal-key.pem`, and set its variable to the text of that file. Without seal_key, the books are not sealed.',
  }),
  secretKeyUnusable: ({ file, key }: { file: string; key: string }): PlainError => ({
    code: 'secret_key_unusable',
    message: `${file}: ${key} is not a key of 32 bytes in base64.`,
    todo: 'Make a key with `openssl rand -base64 32`, and set its variable to the line that it prints.',
  }),
});

/** Parts of the errors above, and warnings. */
export const secretTexts = catalogue('errors/config.secretTexts', {
  tooLarge: ({ bytes }: { bytes: number }) => `it is larger than ${bytes} bytes`,
  openToOthers: ({ path, rights, newRights }: { path: string; rights: string; newRights: string }) => ({
    message: `${path} contains a secret, and other users of this machine may read or change it (rights ${rights}).`,
    todo: `Remove these rights (chmod ${newRights} ${path}). If others may have read the secret, change it.`,
  }),
  fromFile: ({ path }: { path: string }) => ({
    from: `the file ${path}`,
    todo: 'Write the secret again, on one line and without other text.',
  }),
  fromVariable: ({ name }: { name: string }) => ({
    from: `the environment variable ${name}`,
    todo: `Set ${name} again without it. A secret from a file often ends with a line end; this removes it: export ${name}="$(tr -d '\\r\\n' < FILE)".`,
  }),
  lineEnd: 'a line end',
  controlCharacter: 'a control character',
  notAscii: 'a blank, or a character that is not ASCII',
});
