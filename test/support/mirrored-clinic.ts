import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clinic } from '../../sandbox/src/clinic.ts';
import { generate } from '../../sandbox/src/generator.ts';
import { live } from '../../sandbox/src/live.ts';
import { defaultQuirks } from '../../sandbox/src/quirks.ts';
import { encode, Wire } from '../../sandbox/src/wire.ts';
import { Zone } from '../../sandbox/src/zone.ts';
import { markAfterChangedConditions } from '../../src/bookkeeping/conditions.ts';
import { applyMapping } from '../../src/bookkeeping/mapping-versions.ts';
import { postBatch } from '../../src/bookkeeping/post.ts';
import { postingContexts } from '../../src/bookkeeping/posting-context.ts';
import { type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import type { Db } from '../../src/db/pool.ts';
import type { Connection } from '../../src/db/rows.ts';
import { markDirty } from '../../src/documents/mark.ts';
import { departmentLocks, storeDepartmentLock } from '../../src/mirror/department-locks.ts';
import { acceptRowSets } from '../../src/mirror/row-sets.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import type { MirrorScope } from '../../src/mirror/types.ts';
import { followMarked } from '../../src/prepayments/follow.ts';
import { readJson } from '../../src/records/json.ts';
import type { RecordKind } from '../../src/terms.ts';
import { demoConfig, fromEnvironment, type Settings } from './demo-config.ts';
import { wrongBooks } from './expected-books.ts';
import { answerTimes } from './practice-list.ts';
import { refusingPractice } from './refusing-practice.ts';
import { query } from './sql.ts';

const zone = new Zone('Europe/Helsinki');
const finalStatus = 3;

/** A sandbox clinic with a real database, without HTTP and Temporal. The test decides when it pulls and posts. */
export class MirroredClinic {
  readonly clinic: Clinic;
  readonly id: number;
  readonly config: string;
  installation!: InstallationConfig;
  readonly #db: Db;
  readonly #folder: string;
  readonly #databaseUrl: string;
  #settings: Settings = {};
  #now: number;

  /** `now` is the clinic's time, which the test's actions advance. Its history covers the days before. */
  constructor(
    db: Db,
    databaseUrl: string,
    options: { id: number; seed: number; invoices: number; now?: string; historyDays?: number },
  ) {
    const { id, seed, invoices, now = '2026-03-10T09:00:00Z', historyDays = 60 } = options;
    this.#now = Date.parse(now);
    this.#db = db;
    this.#databaseUrl = databaseUrl;
    this.id = id;
    this.#folder = mkdtempSync(join(tmpdir(), 'vetledger-mirrored-'));
    this.config = join(this.#folder, 'vetledger.yaml');
    this.clinic = new Clinic({ seed, zone, decimals: 2, quirks: defaultQuirks, clock: () => this.#now });
    generate(this.clinic, { seed, invoices, historyDays, endMs: this.#now });
  }

  /** Writes mapping and settings, reads the configuration like a command, and applies the mapping. */
  async configure(mapping: string, settings = this.#settings): Promise<void> {
    this.#settings = settings;
    writeFileSync(join(this.#folder, 'mapping.yaml'), mapping);
    writeFileSync(
      this.config,
      demoConfig([{ id: this.id, base_url: await refusingPractice(), mapping: 'mapping.yaml', ...settings }], {
        database_url: fromEnvironment('DATABASE_URL'),
      }),
    );
    this.installation = (await loadConfig(this.config, this.env)).installations[0]!;
    await applyMapping(this.#db, this.installation, { actedBy: 'a test', reason: 'configured' });
  }

  get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      PRACTICE_TOKEN: 'token',
      DATABASE_URL: this.#databaseUrl,
      VETLEDGER_LOG: 'silent',
    };
  }

  /** Sets the clinic's time: what it records from now on was created then. */
  at(time: string): void {
    this.#now = Date.parse(time);
  }

  file(name: string, text: string): string {
    writeFileSync(join(this.#folder, name), text);
    return join(this.#folder, name);
  }

  /** Advances the clinic some minutes with this number of live events. */
  live(events: number): void {
    this.#now += 600_000;
    live(this.clinic, events);
  }

  /** Copies all records of the clinic into the mirror, like walks. `withoutRows` leaves out changed rows. */
  async pull(options: { withoutRows?: boolean } = {}): Promise<void> {
    this.#now += 10_000;
    const wire = new Wire(`http://127.0.0.1:9/${this.id}/api/0.1`, defaultQuirks, zone);
    const { clinic } = this;
    const records: Record<RecordKind, unknown[]> = {
      invoice: clinic.invoices.all().map((record) => wire.invoice(record)),
      row: clinic.invoiceRows.all().map((record) => wire.invoiceRow(record, true)),
      payment: clinic.invoicePayments.all().map((record) => wire.invoicePayment(record)),
      prepayment: clinic.prepayments.all().map((record) => wire.prepayment(record)),
    };
    const scope: MirrorScope = {
      installation: this.id,
      timezone: 'Europe/Helsinki',
      dialect: this.installation.dialect,
      keepRaw: this.installation.keepRaw,
    };
    const sourceTime = new Date(this.#now);
    await this.#db.transaction(async (trx) => {
      for (const kind of ['invoice', 'row', 'payment', 'prepayment'] as const) {
        if (kind === 'row' && options.withoutRows) continue;
        const results = records[kind].map((record) => {
          const raw = encode(record);
          const value = readJson(raw);
          return { id: (record as { id: number }).id, raw, value };
        });
        await savePage(trx, scope, kind, { results, ...answerTimes({ sourceTime }) });
        if (kind === 'row') continue;
        const gone = await query<{ id: number }>(
          trx,
          `update mirror_record set gone_at = ? where installation = ? and kind = ? and gone_at is null
             and id <> all(?::bigint[]) returning id`,
          [sourceTime, this.id, kind, results.map(({ id }) => id)],
        );
        await markDirty(
          trx,
          this.id,
          kind,
          gone.map(({ id }) => id),
        );
      }
      const final = clinic.invoices.all().filter(({ status }) => status === finalStatus);
      if (!options.withoutRows)
        await acceptRowSets(
          trx,
          this.id,
          final.map(({ id }) => id),
          answerTimes({ sourceTime }),
        );
    });
  }

  /** Does what a window does after its pull: marks documents whose conditions changed, and judges everything. */
  async post(
    lockOf: (department: number) => Promise<string | null> = async () => null,
    clock: (() => Date) | null = null,
  ): Promise<void> {
    const noted = async (department: number) => {
      const lock = await lockOf(department);
      await storeDepartmentLock(this.#db, this.id, department, lock);
      return lock;
    };
    if (this.installation.mapping.policies.follow_source_lock) {
      for (const department of (await departmentLocks(this.#db, this.id)).keys()) await noted(department);
    }
    await markAfterChangedConditions(this.#db, this.installation, clock);
    await followMarked(this.#db, this.installation, transactionsOf(this.#db));
    const contextFor = postingContexts(this.installation, noted, clock);
    const judgedBefore = new Date(Date.now() + 3_600_000);
    for (let left = true; left; ) {
      const options = { finalRound: true, judgedBefore };
      left = await this.#db.transaction(
        async (trx) => (await postBatch(trx, this.installation, contextFor, null, options)).documents > 0,
      );
      // A document that waits for fresh parts would stay marked and be judged again without end.
      await this.#db.raw(`update document set dirty = false where installation = ? and refetch = 'wanted'`, [this.id]);
    }
  }

  /** The differences between the books and the oracle, for the pulled records; empty if there are none. */
  wrongBooks(db: Connection = this.#db): Promise<string[]> {
    const { timezone, decimals, startDate } = this.installation;
    const mapping = join(this.#folder, 'mapping.yaml');
    return wrongBooks(db, this.clinic, { installation: this.id, timezone, decimals, startDate, mapping });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
