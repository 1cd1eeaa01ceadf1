import { readFile } from 'node:fs/promises';
import { ConfigError } from '../../domain/errors.ts';
import { type Ed25519Key, publicKeyOf } from '../../domain/signature.ts';
import { type ChainReport, chainReport } from '../../queries/ledger.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { type CommandContext, usageError } from '../context.ts';
import { verification, verificationText } from '../render/ledger.ts';
import { readSealedExport, refuseUnreadable } from '../sealed-export.ts';
import { withApp } from '../with-app.ts';

export interface VerifyOptions {
  installation?: number;
  head?: string;
  publicKey?: string;
  export?: string;
}

/**
 * Verifies the hash chain of each journal, and what else is asked: a hash noted before, the seals, an exported file. Exit code 1
 * when something is not as it was.
 */
export async function verify(context: CommandContext, options: VerifyOptions): Promise<number> {
  const { head, publicKey, export: exported } = options;
  if (exported !== undefined && publicKey === undefined) {
    throw usageError('--export needs --public-key FILE.', 'ledger verify');
  }
  const key = publicKey === undefined ? undefined : await readPublicKey(publicKey);
  const sealedExport = exported === undefined || key === undefined ? null : await readSealedExport(exported, key);
  return withApp(context, { temporal: false }, async ({ db, config }) => {
    const installations: ChainReport[] = [];
    for (const { id } of chosenInstallations(config, options.installation)) {
      const heads = sealedExport?.heads.filter(({ installation }) => installation === id) ?? [];
      installations.push(
        await chainReport(db, id, { hash: head, key: sealedExport === null ? key : undefined, heads }),
      );
    }
    const report = verification(installations, head, sealedExport);
    await context.result(report, () => verificationText(report));
    return report.ok ? 0 : 1;
  });
}

async function readPublicKey(file: string): Promise<Ed25519Key> {
  const key = publicKeyOf(await readFile(file, 'utf8').catch((error: unknown) => refuseUnreadable(file, error)));
  if (key !== null) return key;
  throw new ConfigError(
    'public_key_unusable',
    `${file} holds no Ed25519 public key in PEM.`,
    'Make it from the private key: openssl pkey -in seal-key.pem -pubout -out seal-public.pem',
  );
}
