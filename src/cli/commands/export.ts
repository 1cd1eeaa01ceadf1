import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { ConfigError, codeOf } from '../../domain/errors.ts';
import { type ExportFormatName, exportEntries } from '../../ledger/export/export.ts';
import { chosenBooks } from '../books.ts';
import { calendarDate, type Definition, installation, option } from '../command.ts';
import { type CommandContext, refuseBackwards, usageError } from '../context.ts';
import { headAnswer, headFields } from '../render/ledger.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  format: ExportFormatName;
  from?: string;
  to?: string;
  out?: string;
  documents?: true;
  all?: true;
}

const answer = z.strictObject({
  out: z.string(),
  bytes: z.number(),
  left_out: z.array(z.strictObject({ installation: z.number(), entries: z.number() })),
  heads: z.array(headAnswer.extend({ installation: z.number(), line: z.string() })),
});

export const command: Definition<Options> = {
  description:
    'What goes to the general ledger: every document’s entry, or, for those posted in mode `daily_summary`, one entry per day and department. Entries of days that have no summary yet are left out, and counted on stderr.',
  options: [
    new Option('--format <format>', 'what to write').choices(['hledger', 'csv', 'beancount']).makeOptionMandatory(),
    installation,
    option('--from <date>', 'first entry date (YYYY-MM-DD)', calendarDate),
    option('--to <date>', 'last entry date (YYYY-MM-DD)', calendarDate),
    new Option('--documents', 'the sub-ledger instead: the entry of every document, whatever its posting mode'),
    new Option('--all', 'with csv: all installations in one table'),
    new Option('--out <file>', 'write to this file, whole or not at all (default: stdout)'),
  ],
  examples: [
    ['vetledger export --format hledger | hledger -f - balance', 'the trial balance by another program'],
    ['vetledger export --format csv --from 2026-01-01 --to 2026-01-31 --out january.csv', 'one month as a table'],
  ],
  answer,
  run: exportJournal,
};

/** Writes the journal to stdout, or to a file that is replaced as a whole or not at all. */
async function exportJournal(context: CommandContext, options: Options): Promise<number> {
  const { from = null, to = null, out } = options;
  refuseBackwards(options, 'export');
  if (context.json && !out) throw usageError('--json needs --out FILE: stdout carries the journal itself.', 'export');
  return withApp(context, { temporal: false }, async (app) => {
    const installations = await chosenBooks(app, options.installation);
    if (options.format === 'csv' && installations.length > 1 && !options.all) {
      throw usageError(
        `${installations.length} installations are configured, and a table is of one: name it with --installation, or say --all.`,
        'export',
      );
    }
    const heads: object[] = [];
    const leftOut: { installation: number; entries: number }[] = [];
    const pieces = exportEntries(app.db, {
      format: options.format,
      installations,
      range: { from, to },
      documents: options.documents === true,
      names: app.config.export.names,
      sealKey: app.config.sealKey,
      onHead: (head, line, isInExport) => {
        heads.push({ installation: head.installation, ...headFields(head), line });
        if (!isInExport) context.note(line);
      },
      onUnsummarised: (installation, entries) => {
        leftOut.push({ installation, entries });
        context.note(leftOutText(installation, entries));
      },
    });
    if (!out) {
      for await (const piece of pieces) await context.writeFile(piece);
      return 0;
    }
    const file = resolve(out);
    const bytes = await writeWhole(file, pieces);
    await context.result({ out: file, bytes, left_out: leftOut, heads }, () => `Written to ${file}.`);
    return 0;
  });
}

function leftOutText(installation: number, entries: number): string {
  const some = entries === 1 ? '1 entry is' : `${entries} entries are`;
  return `Installation ${installation}: ${some} left out, as their days have no summary yet (the next window makes those of days that are over); --documents exports them.`;
}

/** Exports hold personal data and the whole books: only their owner reads them. */
const privateMode = 0o600;

/** Writes a temporary file in the same folder and renames it, so that readers see the old or the new file; returns its bytes. */
async function writeWhole(file: string, pieces: AsyncIterable<string>): Promise<number> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const handle = await open(temporary, 'wx', privateMode).catch((error: unknown) => {
    throw new ConfigError({
      code: 'out_not_writable',
      message: `${file} cannot be written (${codeOf(error)}).`,
      todo: 'Give --out a file in an existing folder that you may write to.',
    });
  });
  try {
    let bytes = 0;
    for await (const piece of pieces) bytes += (await handle.write(piece)).bytesWritten;
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
    return bytes;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}
