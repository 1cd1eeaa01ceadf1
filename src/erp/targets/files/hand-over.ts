import { createHash, randomUUID } from 'node:crypto';
import { type FileTargetConfig, isFileTarget } from '../../../config/erp.ts';
import type { Connection } from '../../../db/rows.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../../../db/statistics.ts';
import { businessDate, instantOf } from '../../../domain/dates.ts';
import { codeOf } from '../../../domain/errors.ts';
import { visible } from '../../../domain/text.ts';
import { loadUnits } from '../../../ledger/general-ledger.ts';
import { entryRecords } from '../../../ledger/journal/entry-records.ts';
import { erpProblemCatalogue } from '../../../texts/erp-problems.ts';
import { batchErrors, batchTexts } from '../../../texts/errors/batches.ts';
import { deliveryErrors } from '../../../texts/errors/deliveries.ts';
import { deliveryFindings } from '../../../texts/findings/delivery.ts';
import type { PlainError } from '../../../texts/plain-error.ts';
import { companyOf } from '../../company.ts';
import { noteOutcome } from '../../company-lease.ts';
import type { DeliverPorts, SliceReport } from '../../deliver/slice.ts';
import { companyKey } from '../../entry-key.ts';
import {
  type BatchCandidate,
  batchCandidates,
  countBatched,
  markBatched,
  markHandedOver,
  markRefused,
  releaseBatched,
} from '../../outbox/batched.ts';
import { followConfiguration } from '../../outbox/claim-units.ts';
import { dueWork, pauseOf } from '../../outbox/outbox-queries.ts';
import { translate } from '../../translate.ts';
import { BatchMissing, hasLaterBatch } from './batch-in-folder.ts';
import {
  digestOf,
  lockBatches,
  markWithdrawn,
  markWritten,
  nextBatch,
  piecesOf,
  type StoredBatch,
  storeBatch,
  storePiece,
  unwrittenBatch,
} from './batches.ts';
import { fileCapabilities } from './capabilities.ts';
import { type FileEntry, fileEntry } from './file-entry.ts';
import { claimFolder, FolderForeign } from './folder-claim.ts';
import { batchCode, type FileFormat, type FileWriter, type WrittenEntry } from './format.ts';
import { fileFormat } from './formats.ts';
import { Contents, manifestName, manifestText } from './manifest.ts';
import { takeOverBatch } from './take-over.ts';
import { FileTaken, writeWholeFile } from './write-file.ts';

export type HandOverPorts = Omit<DeliverPorts, 'target'>;

/** Steps of a hand-over. Tests stop the process after each of them. */
export type HandOverStep = 'rendered' | 'stored' | 'temporary' | 'renamed' | 'manifest' | 'marked' | 'done';

export interface HandOverOptions {
  /** Time after which no further batch is started. */
  longestMs?: number;
  /** Maximum number of units in a batch. */
  maxUnits?: number;
  onStep?: (step: HandOverStep) => void;
}

const pageSize = 250;
/** Delay after a file system error, such as a full disk or a missing folder. */
const retryMs = 60_000;
/** Codes of problems that another mapping may solve. */
const mappingProblems = Object.entries(erpProblemCatalogue).flatMap(([code, { retried }]) => (retried ? code : []));

/**
 * Hands over the units that are due as files, batch by batch. A batch with its content and its units is stored in one
 * transaction before the file is written. After a crash, the same file is written again. So a unit is never in two
 * batches.
 */
export async function handOverSlice(ports: HandOverPorts, options: HandOverOptions = {}): Promise<SliceReport> {
  const { db, installation, signal, clock, onProgress, log } = ports;
  const { longestMs = 240_000 } = options;
  const report = { delivered: 0, refused: 0, uncertain: 0 };
  const paused = await pauseOf(db, installation.id);
  if (paused !== null) {
    const { left } = await dueWork(db, installation.id);
    const { installation: id, acted_by: by, reason } = paused;
    return { ...report, left, nextDueMs: null, waitingFor: deliveryErrors.paused({ installation: id, by, reason }) };
  }
  const start = clock.elapsed();
  const run = new HandOver(ports, options);
  const { left: waiting } = await dueWork(db, installation.id);
  if (waiting >= refreshStatisticsFromRows) await refreshStatistics(db, 'deliver');
  try {
    let isFollowed = false;
    for (let isOver = false; !isOver; ) {
      signal.throwIfAborted();
      let stored = await unwrittenBatch(db, installation.id);
      if (stored === null) {
        // A stored batch keeps its content, and is written into the currently configured folder. Only later batches
        // follow a changed configuration.
        if (!isFollowed) await run.followConfiguration();
        isFollowed = true;
        stored = await run.makeBatch(report);
      }
      if (stored === null) break;
      const units = await run.write(stored);
      if (units === null) {
        log.warn(
          { installation: installation.id, batch: batchCode(stored) },
          'withdrew a batch, because units were taken out of it',
        );
        continue;
      }
      report.delivered += units;
      await noteOutcome(db, companyOf(run.erp), null);
      log.info({ installation: installation.id, batch: batchCode(stored), units }, 'handed over a batch');
      const { left } = await dueWork(db, installation.id);
      onProgress({ delivered: report.delivered, left });
      isOver = clock.elapsed() - start >= longestMs;
    }
  } catch (error) {
    const waitingFor = notWritten(error);
    if (waitingFor === null) throw error;
    await noteOutcome(db, companyOf(run.erp), waitingFor);
    const { left } = await dueWork(db, installation.id);
    // If another database uses the folder, the operator has to act first.
    const nextDueMs = error instanceof FolderForeign ? null : retryMs;
    return { ...report, left, nextDueMs, waitingFor };
  }
  return { ...report, ...(await run.whatIsLeft()), waitingFor: null };
}

class HandOver {
  readonly #ports: HandOverPorts;
  readonly erp: FileTargetConfig;
  readonly #format: FileFormat;
  readonly #maxUnits: number;
  readonly #onStep: (step: HandOverStep) => void;

  constructor(ports: HandOverPorts, { maxUnits, onStep = () => {} }: HandOverOptions) {
    const { erp } = ports.installation;
    if (!isFileTarget(erp)) throw new Error(`installation ${ports.installation.id} is not delivered as files`);
    this.#ports = ports;
    this.erp = erp;
    this.#format = fileFormat(erp, ports.installation);
    this.#maxUnits = maxUnits ?? fileCapabilities[erp.kind].write.max_entries;
    this.#onStep = onStep;
  }

  /** Makes units pending again that the former mapping could not translate, or that were for another folder. */
  async followConfiguration(): Promise<void> {
    const { db, installation } = this.#ports;
    const company = companyKey(companyOf(this.erp));
    const { mappingHash } = installation;
    await db.transaction((trx) =>
      followConfiguration(
        trx,
        { installation: installation.id, company },
        { mappingHash, retriedCodes: mappingProblems },
      ),
    );
  }

  /** Stores the next batch; null if no unit is due. */
  async makeBatch(report: { refused: number }): Promise<StoredBatch | null> {
    const { db, installation } = this.#ports;
    const stored = await db.transaction(async (trx) => {
      await lockBatches(trx, installation.id);
      if ((await pauseOf(trx, installation.id)) !== null) return null;
      const { number, at } = await nextBatch(trx, installation.id);
      const key = { installation: installation.id, number };
      const inFolder = await this.#takeOver(trx, key, report);
      if (inFolder !== null) return inFolder;
      const before = this.#cut();
      const first = await this.#firstCandidate(trx, before);
      if (first === null) return null;
      if (await hasLaterBatch(this.erp.folder, key)) throw new BatchMissing(this.erp.folder, key);
      const period = this.#format.periodOf(first.date);
      const rendered = await this.#render(trx, { number, period, before, maxUnits: this.#maxUnits });
      report.refused += rendered.refused;
      // The refusals are committed first. The next call continues with the units after the refused ones.
      if (rendered.ids.length === 0) return rendered.refused > 0 ? 'again' : null;
      const facts = { installation: installation.id, number, period, currency: installation.currency, createdAt: at };
      await storePiece(trx, key, 0, rendered.writer.head(facts));
      const { sha256, bytes } = await digestOf(trx, key);
      const [format, file] = [this.erp.kind, this.#format.fileName(facts)];
      const { decimals } = installation;
      const manifest = manifestText({ ...facts, format, file, sha256, bytes, decimals }, rendered.contents);
      const batch = { ...key, format, file, sha256, units: rendered.ids.length, manifest, created_at: at };
      await storeBatch(trx, batch);
      await markBatched(trx, installation.id, { ids: rendered.ids, batch: number, attemptId: randomUUID() });
      this.#onStep('rendered');
      return { ...batch, written_at: null, withdrawn_at: null, acknowledged_at: null };
    });
    if (stored === 'again') return this.makeBatch(report);
    if (stored !== null) this.#onStep('stored');
    return stored;
  }

  /**
   * Takes over the batch of this number if it is in the folder. This happens after the database was restored from an
   * earlier backup.
   */
  async #takeOver(
    trx: Connection,
    key: Pick<StoredBatch, 'installation' | 'number'>,
    report: { refused: number },
  ): Promise<StoredBatch | null> {
    const { databaseId, log, signal } = this.#ports;
    const writer = this.#format.begin();
    const taken = await takeOverBatch(trx, key, {
      ...{ folder: this.erp.folder, format: this.erp.kind, databaseId, log },
      bytesOf: async (candidates) => {
        const found: { id: string; bytes: Uint8Array | null }[] = [];
        for (let at = 0; at < candidates.length; at += pageSize) {
          signal.throwIfAborted();
          for (const { candidate, entry } of await this.#entries(trx, candidates.slice(at, at + pageSize))) {
            const written = 'problems' in entry ? entry : writer.entry(entry);
            found.push({ id: candidate.id, bytes: 'bytes' in written ? written.bytes : null });
          }
        }
        return found;
      },
    });
    report.refused += taken?.refused ?? 0;
    return taken?.batch ?? null;
  }

  /**
   * Writes the file and manifest of a stored batch. Returns the number of units that are handed over. Returns null if
   * units were taken out of the batch, because another ERP was configured meanwhile; then the batch is withdrawn.
   */
  async write({ number }: Pick<StoredBatch, 'number'>): Promise<number | null> {
    const { db, installation } = this.#ports;
    const units = await db.transaction(async (trx) => {
      // Only the holder of the lock writes.
      await lockBatches(trx, installation.id);
      const batch = await unwrittenBatch(trx, installation.id);
      if (batch === null || batch.number !== number) return 0;
      if ((await countBatched(trx, installation.id, number)) !== batch.units) {
        await releaseBatched(trx, installation.id, number);
        await markWithdrawn(trx, batch);
        return null;
      }
      await this.#writeFiles(trx, batch);
      await markWritten(trx, batch);
      await markHandedOver(trx, installation.id, batch.number);
      this.#onStep('marked');
      return batch.units;
    });
    this.#onStep('done');
    return units;
  }

  async #writeFiles(trx: Connection, batch: StoredBatch): Promise<void> {
    const { folder } = this.erp;
    const { databaseId } = this.#ports;
    await claimFolder(folder, { installation: batch.installation, databaseId });
    const content = piecesOf(trx, batch);
    await writeWholeFile({ folder, name: batch.file, sha256: batch.sha256, content }, () => this.#onStep('temporary'));
    this.#onStep('renamed');
    // The manifest is written last, so its presence shows that the file is complete.
    const manifest = Buffer.from(batch.manifest);
    await writeWholeFile({ folder, name: manifestName(batch), sha256: sha256Of(manifest), content: [manifest] });
    this.#onStep('manifest');
  }

  /** The units that are left after the slice. Units that wait for the end of their day or month become due then. */
  async whatIsLeft(): Promise<{ left: number; nextDueMs: number | null }> {
    const { db, installation, clock } = this.#ports;
    const work = await dueWork(db, installation.id);
    if (work.left === 0 || work.nextDueMs !== 0 || this.#cut() === null) return work;
    const first = await this.#firstCandidate(db, this.#cut());
    return first === null ? { ...work, nextDueMs: Math.max(1_000, this.#nextCutMs() - clock.now()) } : work;
  }

  /** The first unit that may be in a batch now. */
  async #firstCandidate(db: Connection, before: Date | null): Promise<BatchCandidate | null> {
    let after: BatchCandidate | null = null;
    for (;;) {
      const range = { days: null, before, after, limit: pageSize };
      const page: BatchCandidate[] = await batchCandidates(db, this.#ports.installation.id, range);
      const found = page.find(({ waitsFor }) => waitsFor === null);
      if (found !== undefined) return found;
      if (page.length < pageSize) return null;
      after = page.at(-1) ?? null;
    }
  }

  /** Stores the content of the batch's units, page by page, and refuses units that the format cannot hold. */
  async #render(
    trx: Connection,
    { number, period, before, maxUnits }: { number: number; period: string; before: Date | null; maxUnits: number },
  ): Promise<{ ids: string[]; refused: number; contents: Contents; writer: FileWriter }> {
    const { installation } = this.#ports;
    const [writer, contents] = [this.#format.begin(), new Contents()];
    const days = this.#format.daysOf(period);
    const ids: string[] = [];
    const taken = new Set<string>();
    let refused = 0;
    let after: BatchCandidate | null = null;
    for (let piece = 1; ids.length < maxUnits; piece++) {
      this.#ports.signal.throwIfAborted();
      const range = { days, before, after, limit: Math.min(pageSize, maxUnits - ids.length) };
      const page: BatchCandidate[] = await batchCandidates(trx, installation.id, range);
      if (page.length === 0) break;
      after = page.at(-1) ?? null;
      const bytes: Uint8Array[] = [];
      const problems: { unit_id: string; code: string; message: string }[] = [];
      let isFull = false;
      for (const { candidate, entry } of await this.#entries(trx, page)) {
        if (candidate.waitsFor !== null && !taken.has(candidate.waitsFor)) continue;
        const written = 'problems' in entry ? entry : this.#withinRows(writer.entry(entry));
        if ('problems' in written) {
          const [first] = written.problems;
          const message = written.problems.map((problem) => problem.message).join('; ');
          problems.push({ unit_id: candidate.id, code: first?.code ?? 'erp_refused', message });
          continue;
        }
        if (contents.rows + written.rows > this.#format.maxRows) {
          isFull = true;
          break;
        }
        bytes.push(written.bytes);
        contents.add({ unitId: candidate.id, date: candidate.date }, written);
        ids.push(candidate.id);
        taken.add(candidate.id);
      }
      await markRefused(trx, installation.id, problems);
      refused += problems.length;
      if (bytes.length > 0)
        await storePiece(trx, { installation: installation.id, number }, piece, Buffer.concat(bytes));
      if (isFull) break;
    }
    return { ids, refused, contents, writer };
  }

  #withinRows(written: WrittenEntry | { problems: { code: string; message: string }[] }) {
    if ('problems' in written || written.rows <= this.#format.maxRows) return written;
    const message = deliveryFindings.tooManyRows({ rows: written.rows, most: this.#format.maxRows });
    return { problems: [{ code: 'erp_too_large', message }] };
  }

  async #entries(
    trx: Connection,
    candidates: readonly BatchCandidate[],
  ): Promise<{ candidate: BatchCandidate; entry: FileEntry | { problems: { code: string; message: string }[] } }[]> {
    const { databaseId, installation } = this.#ports;
    const { mapping } = installation;
    const units = await loadUnits(trx, candidates);
    const byId = new Map(units.map((unit) => [unit.posting.id, unit]));
    const records = await entryRecords(trx, [...byId.keys()]);
    return candidates.flatMap((candidate) => {
      const unit = byId.get(candidate.id);
      if (unit === undefined) return [];
      const translated = translate(unit, { databaseId, mapping, capabilities: fileCapabilities[this.erp.kind] });
      if ('problems' in translated) return { candidate, entry: translated };
      const collectiveParty = mapping.erp.parties === 'collective' ? mapping.erp.collective_party : null;
      // The stored key is used, as in deliver/batch.ts.
      const entry = { ...translated.entry, key: candidate.key };
      const record = records.get(candidate.id) ?? null;
      return { candidate, entry: fileEntry(unit, entry, { collectiveParty, record }) };
    });
  }

  /** Only units that entered the outbox before this time are due; null if all are. */
  #cut(): Date | null {
    const { batches } = this.erp.options;
    if (batches === 'at_once') return null;
    const today = this.#today();
    return instantOf(batches === 'daily' ? today : `${today.slice(0, 7)}-01`, this.#ports.installation.timezone);
  }

  #nextCutMs(): number {
    const { timezone } = this.#ports.installation;
    const next = new Date(`${this.#today()}T00:00:00Z`);
    if (this.erp.options.batches === 'monthly') next.setUTCMonth(next.getUTCMonth() + 1, 1);
    else next.setUTCDate(next.getUTCDate() + 1);
    return instantOf(next.toISOString().slice(0, 10), timezone)?.getTime() ?? 0;
  }

  #today(): string {
    const { clock, installation } = this.#ports;
    return businessDate(new Date(clock.now()).toISOString(), installation.timezone) ?? '';
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The error for a batch that could not be written; null for any other error. */
function notWritten(error: unknown): PlainError | null {
  if (error instanceof FolderForeign) return error.plain;
  if (error instanceof FileTaken) return batchErrors.fileTaken({ file: error.file });
  if (error instanceof BatchMissing) return batchErrors.missing({ batch: error.batch, folder: error.folder });
  if (!(error instanceof Error) || !('syscall' in error) || !('path' in error || 'errno' in error)) return null;
  const path = 'path' in error ? visible(String(error.path)) : batchTexts.folder;
  return batchErrors.notWritable({ path, reason: codeOf(error) ?? batchTexts.unknownError });
}
