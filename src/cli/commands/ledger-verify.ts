import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { z } from 'zod';
import { ConfigError } from '../../domain/errors.ts';
import { type Ed25519Key, publicKeyOf } from '../../domain/signature.ts';
import { visible } from '../../domain/text.ts';
import type { BooksHead } from '../../ledger/head.ts';
import { instant } from '../../queries/answer.ts';
import { type ChainReport, chainReport, type SealReport } from '../../queries/ledger.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { verifyTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { type Definition, installation, option, sha256 } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { headText } from '../render/ledger.ts';
import { readSealedExport, refuseUnreadable, type SealedExport } from '../sealed-export.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  head?: string;
  publicKey?: string;
  export?: string;
}

const link = z.strictObject({ seq: z.number(), hash: z.string() });

const answer = z.strictObject({
  ok: z.boolean(),
  installations: z.array(
    z.strictObject({
      installation: z.number(),
      ok: z.boolean(),
      entries: z.number(),
      summaries: z.number(),
      broken: z.strictObject({ seq: z.number().nullable(), entryId: z.string(), message: z.string() }).nullable(),
      head: link,
      summary_head: link,
      found: z
        .strictObject({ chain: z.enum(['journal', 'summaries']), seq: z.number() })
        .nullable()
        .optional(),
      seals: z
        .strictObject({
          ok: z.boolean(),
          count: z.number(),
          last: z
            .strictObject({ n: z.number(), seq: z.number(), entries: z.number(), hash: z.string(), sealed_at: instant })
            .nullable(),
          defect: z.string().nullable(),
        })
        .optional(),
      heads: z
        .array(
          z.strictObject({
            head: z.strictObject({
              installation: z.number(),
              seq: z.number(),
              hash: z.string(),
              entries: z.number(),
              summaries: z.number(),
              summaryHash: z.string(),
            }),
            met: z.boolean(),
          }),
        )
        .optional(),
    }),
  ),
  head: z.strictObject({ hash: z.string(), found: z.boolean() }).optional(),
  export: z.strictObject({ ok: z.boolean(), file: z.string(), defect: z.string().nullable() }).optional(),
});

export const command: Definition<Options> = {
  description:
    'Finds entries, closes and daily summaries that were changed after they were written. A person with full access to the database could rewrite the whole chain. Only a hash that you stored elsewhere (`--head`) or seals (`seal_key`, `--public-key`) prove the chain up to their entry.',
  options: [
    installation,
    option('--head <hash>', 'exit code 1 also if this hash, which you stored before, is not in the chain', sha256),
    new Option('--public-key <file>', 'check all seals with this Ed25519 public key (PEM) against the chain'),
    new Option(
      '--export <file>',
      'check with --public-key that this exported file is unchanged and from these books (CSV: store what `export` wrote to stderr in <file>.seal)',
    ),
  ],
  examples: [
    ['vetledger ledger verify', 'check the chain'],
    ['vetledger ledger verify --public-key seal-public.pem', 'check the seals, too'],
    ['vetledger ledger verify --export january.journal --public-key seal-public.pem', 'check an exported file'],
  ],
  answer,
  run: verify,
};

/**
 * Verifies the hash chain of each journal and, with the options, a stored hash, the seals or an exported file. Exit code 1 if
 * something was changed.
 */
async function verify(context: CommandContext, options: Options): Promise<number> {
  const { head, publicKey, export: exported } = options;
  if (exported !== undefined && publicKey === undefined) {
    throw usageError(usageTexts.exportNeedsKey, 'ledger verify');
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
  throw new ConfigError(commandErrors.publicKeyUnusable({ file }));
}

/** The result of `ledger verify`. */
interface Verification {
  ok: boolean;
  installations: ChainReport[];
  /** The hash of --head. */
  head?: { hash: string; found: boolean };
  export?: { ok: boolean; file: string; defect: string | null };
}

function verification(
  installations: ChainReport[],
  hash: string | undefined,
  sealed: SealedExport | null,
): Verification {
  const found = installations.some((each) => (each.found ?? null) !== null);
  const checked = sealed && exportCheck(sealed, installations);
  const ok = installations.every((each) => each.ok) && (hash === undefined || found) && checked?.ok !== false;
  return {
    ok,
    installations,
    ...(hash === undefined ? {} : { head: { hash, found } }),
    ...(checked === null ? {} : { export: checked }),
  };
}

function exportCheck({ file, heads, defect }: SealedExport, installations: ChainReport[]) {
  const met = installations.flatMap((each) => each.heads ?? []);
  const wrong = (head: BooksHead): string | null => {
    const here = met.find((each) => each.head === head);
    if (here === undefined) return verifyTexts.otherBooks({ installation: head.installation });
    return here.met ? null : verifyTexts.headMissing(head);
  };
  const found = defect ?? heads.map(wrong).find((each) => each !== null) ?? null;
  return { ok: found === null, file, defect: found };
}

function verificationText(report: Verification): string {
  const lines = report.installations.map(chainText);
  if (report.head?.found === false) {
    lines.push(verifyTexts.hashMissing({ hash: report.head.hash }), verifyTexts.hashTodo);
  }
  for (const each of report.installations) {
    if (each.found) {
      const chain = each.found.chain === 'journal' ? verifyTexts.journal : verifyTexts.summaries;
      lines.push(verifyTexts.hashFound({ seq: each.found.seq, chain, installation: each.installation }));
    }
  }
  if (report.export) {
    const { file, defect } = report.export;
    const text = defect === null ? verifyTexts.exportUnchanged : verifyTexts.exportUnproven({ defect });
    lines.push(`${visible(file)} ${visible(text)}.`);
  }
  return lines.join('\n');
}

function chainText(report: ChainReport): string {
  const lines = [wholeText(report)];
  if (report.broken === null) lines.push(headText(report.head, report.summary_head));
  if (report.seals) lines.push(sealsText(report.seals));
  return lines.join('\n');
}

function sealsText({ last, count, defect }: SealReport): string {
  if (defect !== null) {
    return [verifyTexts.sealsWrong({ defect }), verifyTexts.sealsTodo].join('\n');
  }
  if (last === null) return verifyTexts.sealsNone;
  return verifyTexts.seals({
    count,
    at: last.sealed_at.toISOString(),
    seq: last.seq,
    hash: last.hash,
    entries: last.entries,
  });
}

function wholeText({ installation, entries, summaries, broken }: ChainReport): string {
  if (broken === null) {
    return verifyTexts.whole({ installation, entries, summaries });
  }
  return [
    verifyTexts.broken({ installation, entry: visible(broken.entryId), message: visible(broken.message) }),
    verifyTexts.brokenTodo,
  ].join('\n');
}
