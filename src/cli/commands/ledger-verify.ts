import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { z } from 'zod';
import { ConfigError } from '../../domain/errors.ts';
import { type Ed25519Key, publicKeyOf } from '../../domain/signature.ts';
import { visible } from '../../domain/text.ts';
import type { BooksHead } from '../../ledger/head.ts';
import { type ChainReport, chainReport, type SealReport } from '../../queries/ledger.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { instant } from '../answer.ts';
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
    'Finds entries, closes and daily summaries that are not as they were written. Whoever may change the whole database can write a chain anew that is whole: only a hash kept elsewhere (`--head`) or seals (`seal_key`, `--public-key`) show that, up to the entry that they are of.',
  options: [
    installation,
    option('--head <hash>', 'exit code 1, too, when this hash, noted before, is not in the chain', sha256),
    new Option('--public-key <file>', 'check all seals with this Ed25519 public key (PEM) against the chain'),
    new Option(
      '--export <file>',
      'check with --public-key that this file is as it was exported, from these books (CSV: with what `export` wrote to stderr in <file>.seal)',
    ),
  ],
  examples: [
    ['vetledger ledger verify', 'the chain is whole'],
    ['vetledger ledger verify --public-key seal-public.pem', 'the books go through every head that was sealed'],
    ['vetledger ledger verify --export january.journal --public-key seal-public.pem', 'the file is as exported'],
  ],
  answer,
  run: verify,
};

/**
 * Verifies the hash chain of each journal, and what else is asked: a hash noted before, the seals, an exported file. Exit code 1
 * when something is not as it was.
 */
async function verify(context: CommandContext, options: Options): Promise<number> {
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
  throw new ConfigError({
    code: 'public_key_unusable',
    message: `${file} holds no Ed25519 public key in PEM.`,
    todo: 'Make it from the private key: openssl pkey -in seal-key.pem -pubout -out seal-public.pem',
  });
}

/** What `ledger verify` found. */
interface Verification {
  ok: boolean;
  installations: ChainReport[];
  /** The hash asked for. */
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
    if (here === undefined) return `it is of installation ${head.installation}, whose books were not looked at`;
    const link = `link ${head.seq}, ${head.hash}`;
    return here.met ? null : `the books of installation ${head.installation} do not go through its head (${link})`;
  };
  const found = defect ?? heads.map(wrong).find((each) => each !== null) ?? null;
  return { ok: found === null, file, defect: found };
}

function verificationText(report: Verification): string {
  const lines = report.installations.map(chainText);
  if (report.head?.found === false) {
    lines.push(
      `The hash ${report.head.hash} is NOT in the chain.`,
      'what to do: see that it was noted from these books, and wholly. If so, they were rewritten or cut since: restore a backup, and find out who could change the database.',
    );
  }
  for (const each of report.installations) {
    if (each.found) {
      const chain = each.found.chain === 'journal' ? 'the journal' : 'the daily summaries';
      lines.push(`The hash given is link ${each.found.seq} of ${chain} of installation ${each.installation}.`);
    }
  }
  if (report.export) {
    const { file, defect } = report.export;
    const text = defect === null ? 'is as it was exported, from these books' : `is NOT proven: ${defect}`;
    lines.push(`${visible(file)} ${visible(text)}.`);
  }
  return lines.join('\n');
}

/** Whether a journal's hash chain is whole, and what to do if not. */
function chainText(report: ChainReport): string {
  const lines = [wholeText(report)];
  if (report.broken === null) lines.push(headText(report.head, report.summary_head));
  if (report.seals) lines.push(sealsText(report.seals));
  return lines.join('\n');
}

function sealsText({ last, count, defect }: SealReport): string {
  if (defect !== null) {
    return [
      `  seals: NOT sound: ${defect}.`,
      '  what to do: see that this is the key of these books. If so, they were rewritten since: restore a backup, and find out who could change the database.',
    ].join('\n');
  }
  if (last === null) return '  seals: none; the books are empty.';
  return `  seals: all ${count} are sound; the last, of ${last.sealed_at.toISOString()}, is of link ${last.seq}, ${last.hash} (${last.entries} entries). What follows it is not sealed.`;
}

function wholeText({ installation, entries, summaries, broken }: ChainReport): string {
  if (broken === null) {
    const ofSummaries = summaries > 0 ? `, and that of ${summaries} daily summaries,` : '';
    return `Installation ${installation}: the chain of ${entries} entries${ofSummaries} is whole.`;
  }
  return [
    `Installation ${installation}: the chain is BROKEN at ${visible(broken.entryId)}: ${visible(broken.message)}.`,
    'what to do: restore the database from a backup made before it was changed, and find out who changed it.',
  ].join('\n');
}
