import { withMappingAt } from '../bookkeeping/mapping-versions.ts';
import type { Config, InstallationConfig } from '../config/load-config.ts';
import { type Db, withoutIdleTimeout } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { localTimeOf, monthBounds } from '../domain/dates.ts';
import { labelOf } from '../domain/installation-name.ts';
import { visible } from '../domain/text.ts';
import { inLanguage } from '../languages/language.ts';
import type { ClosedMonth } from '../ledger/close-of-month.ts';
import { journalCsv } from '../ledger/export/export.ts';
import { mappingVersionText } from '../ledger/journal/entry-records.ts';
import { countEntries } from '../ledger/journal/read-entries.ts';
import { sealText } from '../ledger/seals.ts';
import type { InstallationReport } from '../reports/installation-report.ts';
import { reportCsv } from '../reports/report-csv.ts';
import type { Item } from '../reports/report-sections.ts';
import type { Language } from '../texts/catalogue.ts';
import { binderTexts } from '../texts/reports/binder.ts';
import { binderReadme } from '../texts/reports/binder-readme.ts';
import { reportTexts } from '../texts/reports/reports.ts';
import { personsText } from '../wording/persons.ts';
import { chainLines } from './chain-file.ts';
import { hashedFields, verifyProgram } from './chain-format.ts';
import { type AddFile, type WrittenFile, writeFolder } from './folder.ts';
import { type BinderTable, binderPdf } from './pdf.ts';
import { binderTables, type DatedListing } from './tables.ts';
import { Tally } from './tally.ts';

/** A file of a binder; `lines` is null for files without a table. */
export type BinderFile = WrittenFile & { lines: number | null };

export interface BinderWanted {
  month: string;
  closed: ClosedMonth;
  names: Config['export']['names'];
  /** The language of tables and pages. README.txt, the journal and the heads of columns are in English. */
  language: Language;
  signal: AbortSignal;
  /** The binder calls this while it writes a table. `count` is the number of lines or entries, null if it is unknown. */
  onProgress?(of: { file: string; done: number; count: number | null }): void;
}

/** Writes the binder of a closed month from one snapshot of the database. Returns its files in their order. */
export async function writeBinder(
  db: Db,
  installation: InstallationConfig,
  folder: string,
  wanted: BinderWanted,
): Promise<BinderFile[]> {
  return db.transaction(
    async (trx) => {
      await withoutIdleTimeout(trx);
      return writeFolder(folder, wanted.signal, (add) => binderFiles(trx, installation, wanted, add));
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Adds the files of a binder in their order. */
export async function binderFiles(
  trx: Connection,
  of: InstallationConfig,
  { month, closed, names, language, onProgress }: BinderWanted,
  add: AddFile,
): Promise<BinderFile[]> {
  const installation = await withMappingAt(trx, of, closed.close.at);
  const { head, links, seal } = closed;
  const { from, through } = monthBounds(month);
  const files: BinderFile[] = [];
  const addTable = async (name: string, pieces: AsyncIterable<string>, count: number | null, headings = 1) => {
    let [lines, done] = [-headings, 0];
    const counted = async function* () {
      for await (const piece of pieces) {
        yield piece;
        lines += piece.split('\n').length - 1;
        done += 1;
        onProgress?.({ file: name, done, count });
      }
    };
    files.push({ ...(await add(name, counted())), lines });
    return lines;
  };
  const addText = async (name: string, content: string | Buffer) => {
    files.push({ ...(await add(name, [content])), lines: null });
  };

  const tables: BinderTable[] = [];
  for (const table of await binderTables(trx, installation, month, closed, language)) {
    const name = `${table.shape.name.replaceAll('_', '-')}.csv`;
    const tally = new Tally(table);
    const lines = await addTable(name, listingCsv(installation, table, tally.items()), null);
    tables.push({ ...tally.sums(), file: name, lines });
  }
  const range = { from, to: through, upToSeq: head.seq };
  const entries = await countEntries(trx, installation.id, range);
  await addTable('journal.csv', journalCsv(trx, installation, range, names), entries);
  await addTable('chain.txt', chainLines(trx, closed, { from, through }), entries, 0);
  await addText('close.json', links.at(-1)?.details ?? '');
  if (seal !== null) {
    await addText('seal.txt', sealText(seal));
    await addText('seal.sig', Buffer.from(seal.signature, 'base64'));
  }

  const words = inLanguage(language, () => wordsOf(installation, month, closed));
  const pages = { ...words, files, tables, language, decimals: installation.decimals, madeAt: closed.close.at };
  await addText('binder.pdf', await binderPdf(pages));
  await addText('README.txt', readmeOf(wordsOf(installation, month, closed), files, closed));
  const sums = files.map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  await addText('checksums.txt', sums.join(''));
  return files;
}

/** The CSV of a table with one section, whose items are read while it is written. */
function listingCsv(
  installation: InstallationConfig,
  { shape, period }: DatedListing,
  items: AsyncIterable<Item>,
): AsyncGenerator<string> {
  const section = { shape, figures: [{ keys: {}, amounts: {}, items }], total: {} };
  const report: InstallationReport = {
    ...{ report: shape.name, installation, period, of: 'month', recordedBy: null, outside: {} },
    sections: [section],
  };
  return reportCsv([report]);
}

/** The words of the first page and of README.txt. */
function wordsOf(installation: InstallationConfig, month: string, { close, head, seal, reopened }: ClosedMonth) {
  const { timezone, startDate, currency, mapping, mappingHash } = installation;
  const { from, through } = monthBounds(month);
  const label = visible(labelOf(installation));
  const books = reportTexts.salesBooks({ startDate });
  const at = (time: Date) => localTimeOf(time, timezone);
  const persons =
    close.by === undefined ? binderTexts.noName : personsText({ by: close.by, second: close.second ?? null });
  const names = binderTexts.facts;
  const facts: [string, string][] = [
    [names.installation, label],
    [names.days, binderTexts.fromTo({ from, through })],
    [names.currency, currency],
    [names.books, books],
    [
      names.closed,
      binderTexts.closedBy({
        through: close.through,
        at: at(close.at),
        persons,
        link: head.seq,
        entries: head.entries,
      }),
    ],
    [names.head, head.hash],
    [names.summaries, head.summaries === 0 ? binderTexts.nothingBefore : `${head.summaries}, ${head.summaryHash}`],
    [
      names.seal,
      seal === null
        ? binderTexts.unsealed
        : binderTexts.sealed({ n: seal.n, at: at(seal.sealedAt), signature: seal.signature }),
    ],
    [
      names.reopened,
      reopened === null
        ? binderTexts.notReopened
        : binderTexts.reopenedBy({
            ...{ at: at(reopened.at), by: reopened.by ?? binderTexts.noName, reason: reopened.reason ?? '' },
            through: reopened.through,
          }),
    ],
    [names.mapping, mappingVersionText({ hash: mappingHash, version: mapping.version ?? null })],
  ];
  return {
    ...{ title: binderTexts.title({ month }), header: binderTexts.header({ label, month, books }), facts },
    warning: reopened === null ? null : binderTexts.reopened({ month, at: at(reopened.at) }),
  };
}

function readmeOf(
  { title, header, warning, facts }: ReturnType<typeof wordsOf>,
  files: readonly BinderFile[],
  { head, seal }: ClosedMonth,
): string {
  const named = [
    'binder.pdf',
    ...files.map(({ name }) => name).filter((name) => name !== 'binder.pdf'),
    'checksums.txt',
  ];
  const aligned = (pairs: readonly (readonly [string, string])[]) => {
    const width = Math.max(...pairs.map(([name]) => name.length));
    return pairs.map(([name, text]) => `${name.padEnd(width)}  ${visible(text)}`).join('\n');
  };
  return binderReadme.whole({
    ...{ title, header, warning, facts: aligned(facts) },
    files: aligned(named.map((name) => [name, binderTexts.files[name] ?? ''])),
    ofEntry: numbered(hashedFields.entry),
    ofLine: numbered(hashedFields.line),
    ofClose: numbered(hashedFields.close),
    ...{ hash: head.hash, link: head.seq, isSealed: seal !== null, program: verifyProgram },
  });
}

function numbered(values: readonly string[]): string {
  return values.map((value, index) => `    ${String(index + 1).padStart(2)}  ${value}`).join('\n');
}
