import { createHash } from 'node:crypto';
import { type Db, withoutIdleTimeout } from '../../db/pool.ts';
import type { Connection } from '../../db/rows.ts';
import { labelOf } from '../../domain/installation-name.ts';
import type { Ed25519Key } from '../../domain/signature.ts';
import type { InstallationId } from '../../terms.ts';
import { type GeneralLedgerUnit, generalLedger, subLedger, usedAccounts } from '../general-ledger.ts';
import { type BooksHead, booksHead } from '../head.ts';
import { type EntryRecord, entryRecords } from '../journal/entry-records.ts';
import type { DateRange } from '../journal/read-entries.ts';
import { countUnsummarised } from '../summaries/read-summaries.ts';
import { attestationLine } from './attest.ts';
import { beancount } from './beancount.ts';
import { csv } from './csv.ts';
import { type ExportedNames, exportedUnit } from './exported-unit.ts';
import type { Declarations, ExportFormat, ExportInstallation } from './format.ts';
import { hledger } from './hledger.ts';

export type { ExportInstallation } from './format.ts';

export const exportFormats = { hledger, csv, beancount } as const satisfies Record<string, ExportFormat>;
export type ExportFormatName = keyof typeof exportFormats;

export interface ExportOptions {
  format: ExportFormatName;
  installations: ExportInstallation[];
  /** Entry dates, both inclusive. Null means no limit. */
  range: DateRange;
  /** The lines on which names of private persons are exported. Default: lines of receivables and prepayments. */
  names?: ExportedNames;
  /** Exports the sub-ledger: every document's entry, whatever its posting mode. */
  documents?: boolean;
  /**
   * Called with the number of entries that are not exported because their daily summary does not exist yet. Not called
   * for 0.
   */
  onUnsummarised?: (installation: InstallationId, entries: number) => void;
  /** The key that signs the export. */
  sealKey?: Ed25519Key | null;
  /**
   * Called at the end for each installation, with the head of its books and the attestation line. `isInExport` is true
   * if the export ends with that line as a comment.
   */
  onHead?: (head: BooksHead, line: string, isInExport: boolean) => void;
}

/**
 * Yields the general ledger as text, per installation in the order of dates. It reads one snapshot of the database and
 * keeps one page in memory (DESIGN `export`). Ending the iteration early ends the snapshot.
 */
export async function* exportEntries(db: Db, options: ExportOptions): AsyncGenerator<string> {
  const format = exportFormats[options.format];
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  await withoutIdleTimeout(trx);
  const digest = createHash('sha256');
  const digested = (piece: string) => {
    digest.update(piece);
    return piece;
  };
  try {
    yield digested(format.head(await declarations(trx, options)));
    for (const installation of options.installations) {
      const read = options.documents ? subLedger : generalLedger;
      for await (const { unit, record } of withRecords(trx, read(trx, installation.id, options.range))) {
        const names = options.names ?? 'receivables';
        yield digested(format.entry(exportedUnit(unit, installation.decimals, names, record), installation));
      }
      if (options.documents || !options.onUnsummarised) continue;
      const unsummarised = await countUnsummarised(trx, installation.id, options.range);
      if (unsummarised > 0) options.onUnsummarised(installation.id, unsummarised);
    }
    if (format.comment !== null) yield digested('\n');
    const sha256 = digest.digest('hex');
    for (const { id } of options.installations) {
      const head = await booksHead(trx, id);
      const line = attestationLine(head, sha256, options.sealKey ?? null);
      if (format.comment !== null) yield format.comment(line);
      options.onHead?.(head, line, format.comment !== null);
    }
  } finally {
    await trx.rollback();
  }
}

/** The entry of every document as CSV: the heading, then one text for each entry, with one page in memory. */
export async function* journalCsv(
  db: Connection,
  installation: ExportInstallation,
  range: DateRange,
  names: ExportedNames,
): AsyncGenerator<string> {
  yield csv.head({ title: '', commodities: [], accounts: [] });
  for await (const { unit, record } of withRecords(db, subLedger(db, installation.id, range))) {
    yield csv.entry(exportedUnit(unit, installation.decimals, names, record), installation);
  }
}

/** Units whose records are read at a time. */
const unitsAtATime = 200;

/** Units with their EntryRecord; null for a daily summary. */
async function* withRecords(
  db: Connection,
  units: AsyncIterable<GeneralLedgerUnit>,
): AsyncGenerator<{ unit: GeneralLedgerUnit; record: EntryRecord | null }> {
  let waiting: GeneralLedgerUnit[] = [];
  const recorded = async () => {
    const ids = waiting.flatMap(({ kind, posting }) => (kind === 'entry' ? [posting.id] : []));
    const records = await entryRecords(db, ids);
    const withRecords = waiting.map((unit) => ({ unit, record: records.get(unit.posting.id) ?? null }));
    waiting = [];
    return withRecords;
  };
  for await (const unit of units) {
    waiting.push(unit);
    if (waiting.length >= unitsAtATime) yield* await recorded();
  }
  yield* await recorded();
}

async function declarations(db: Connection, options: ExportOptions): Promise<Declarations> {
  const { installations, range, documents = false } = options;
  const decimals = new Map(installations.map((each) => [each.currency, each.decimals]));
  const ids = installations.map(({ id }) => id);
  const accounts = await usedAccounts(db, ids, range, { subLedger: documents });
  return {
    title: `Books of ${installations.map(({ id, name = null }) => labelOf({ id, name })).join(', ')}`,
    commodities: [...decimals].sort().map(([currency, places]) => ({ currency, decimals: places })),
    accounts: accounts.map(({ account, role, installations: users, firstDate }) => {
      const currencies = installations.filter(({ id }) => users.includes(id)).map(({ currency }) => currency);
      return { account, role, currencies: [...new Set(currencies)].sort(), firstDate };
    }),
  };
}
