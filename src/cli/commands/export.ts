import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Option } from 'commander';
import { z } from 'zod';
import { ConfigError, codeOf } from '../../domain/errors.ts';
import { type ExportFormatName, exportEntries } from '../../ledger/export/export.ts';
import { date, instant } from '../../queries/answer.ts';
import { exportTexts } from '../../texts/commands/results.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { commandErrors } from '../../texts/errors/commands.ts';
import { chosenBooks } from '../books.ts';
import { calendarDate, type Definition, installation, month, option } from '../command.ts';
import { type CommandContext, refuseBackwards, usageError } from '../context.ts';
import { headAnswer, headFields } from '../render/ledger.ts';
import { withApp } from '../with-app.ts';

interface Options {
  installation?: number;
  format?: ExportFormatName;
  binder?: string;
  from?: string;
  to?: string;
  out?: string;
  documents?: true;
  all?: true;
  yes?: true;
}

const link = z.strictObject({ by: z.string().nullable(), at: instant, through: date });

const answer = z.union([
  z.strictObject({
    out: z.string(),
    bytes: z.number(),
    left_out: z.array(z.strictObject({ installation: z.number(), entries: z.number() })),
    heads: z.array(headAnswer.extend({ installation: z.number(), line: z.string() })),
  }),
  z.strictObject({
    binders: z.array(
      headAnswer.extend({
        installation: z.number(),
        month: z.string(),
        out: z.string(),
        closed: link.extend({ second: z.string().nullable() }),
        seal: z.strictObject({ n: z.number(), at: instant, signature: z.string() }).nullable(),
        reopened: link.extend({ reason: z.string().nullable() }).nullable(),
        files: z.array(
          z.strictObject({ name: z.string(), bytes: z.number(), lines: z.number().nullable(), sha256: z.string() }),
        ),
      }),
    ),
  }),
]);

export const command: Definition<Options> = {
  description:
    'Exports the general ledger: the entry of each document or, in posting mode `daily_summary`, one entry per day and department. Entries of days without a summary are omitted, and their number is printed on stderr. `--binder` writes the closing binder of a month instead: the books as they were recorded at its last close, readable without vetledger.',
  options: [
    new Option('--format <format>', 'format of the output').choices(['hledger', 'csv', 'beancount']),
    option(
      '--binder <month>',
      'the closing binder of a closed month (YYYY-MM): a folder with PDF and CSV files',
      month,
    ),
    installation,
    option('--from <date>', 'first entry date (YYYY-MM-DD)', calendarDate),
    option('--to <date>', 'last entry date (YYYY-MM-DD)', calendarDate),
    new Option('--documents', 'export the entry of every document, in every posting mode'),
    new Option('--all', 'with csv: all installations in one table'),
    new Option(
      '--out <file>',
      'write to this file; after an error the old file is unchanged (default: stdout). With --binder: the folder (default: binder-<installation>-<month>)',
    ),
    new Option('--yes', 'with --binder: replace an existing binder without a question'),
  ],
  examples: [
    ['vetledger export --format hledger | hledger -f - balance', 'the trial balance, computed by another program'],
    ['vetledger export --format csv --from 2026-01-01 --to 2026-01-31 --out january.csv', 'one month as a table'],
    ['vetledger export --binder 2026-01', 'the closing binder of January'],
  ],
  answer,
  run: exportJournal,
};

/** Writes the journal to stdout, or to a file that is replaced only after success. */
async function exportJournal(context: CommandContext, options: Options): Promise<number> {
  const { from = null, to = null, out, format, binder } = options;
  if (binder !== undefined) {
    if (format || from || to || options.documents || options.all) throw usageError(usageTexts.binderAlone, 'export');
    // The library for PDF files is large, so only a binder loads it.
    const { exportBinder } = await import('./export-binder.ts');
    return exportBinder(context, { ...options, binder });
  }
  if (format === undefined) throw usageError(usageTexts.formatOrBinder, 'export');
  refuseBackwards(options, 'export');
  if (context.json && !out) throw usageError(usageTexts.jsonNeedsOut, 'export');
  return withApp(context, { temporal: false }, async (app) => {
    const installations = await chosenBooks(app, options.installation);
    if (format === 'csv' && installations.length > 1 && !options.all) {
      throw usageError(usageTexts.csvOfOne({ count: installations.length }), 'export');
    }
    const heads: object[] = [];
    const leftOut: { installation: number; entries: number }[] = [];
    const pieces = exportEntries(app.db, {
      format,
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
        context.note(exportTexts.omitted({ installation, entries }));
      },
    });
    if (!out) {
      for await (const piece of pieces) await context.writeFile(piece);
      return 0;
    }
    const file = resolve(out);
    const bytes = await writeWhole(file, pieces);
    await context.result({ out: file, bytes, left_out: leftOut, heads }, () => exportTexts.written({ file }));
    return 0;
  });
}

/** Only the owner may read exports, because they contain personal data and the whole books. */
const privateMode = 0o600;

/** Writes a temporary file and renames it, so that readers see the old or the new file. Returns the number of bytes. */
async function writeWhole(file: string, pieces: AsyncIterable<string>): Promise<number> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const handle = await open(temporary, 'wx', privateMode).catch((error: unknown) => {
    throw new ConfigError(commandErrors.outNotWritable({ file, reason: String(codeOf(error)) }));
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
