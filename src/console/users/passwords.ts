import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP's recommendation for argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const derive = promisify(argon2);

/** Limits of a password in characters. */
export const passwordLength = { min: 12, max: 200 } as const;

/** The argon2id hash of a password, with its salt and cost, as `$argon2id$v=19$m=…,t=…,p=…$salt$tag`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const tag = await tagOf(password, salt, cost);
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/** Whether the password has this hash. Without a hash it takes as long, so that the time does not show whether a name exists. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash ?? '');
  if (parts === null) {
    await tagOf(password, randomBytes(16), cost);
    return false;
  }
  const [, memory, passes, parallelism, salt = '', tag = ''] = parts;
  const expected = Buffer.from(tag, 'base64');
  const given = await tagOf(password, Buffer.from(salt, 'base64'), {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  });
  return expected.length === given.length && timingSafeEqual(expected, given);
}

async function tagOf(
  password: string,
  nonce: Buffer,
  parameters: { memory: number; passes: number; parallelism: number },
): Promise<Buffer> {
  return derive('argon2id', { message: password.normalize('NFKC'), nonce, ...parameters, tagLength });
}

/** Base64 without padding, as in the hash formats of other programs. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
