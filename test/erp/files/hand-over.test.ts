import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type InstallationConfig, loadConfig } from '../../../src/config/load-config.ts';
import { execute } from '../../../src/db/rows.ts';
import { type DraftEntry, reversedLines } from '../../../src/domain/entry.ts';
import { adoptEntries } from '../../../src/erp/claims/adopt.ts';
import { companyKeyOf } from '../../../src/erp/company.ts';
import { enqueueUnits } from '../../../src/erp/outbox/enqueue.ts';
import { unitsById } from '../../../src/erp/outbox/outbox-queries.ts';
import { approveUnits, pauseDelivery, resumeDelivery, retryUnits } from '../../../src/erp/outbox/state.ts';
import { undoUnits } from '../../../src/erp/outbox/undo.ts';
import { ackBatches } from '../../../src/erp/targets/files/ack.ts';
import { claimName } from '../../../src/erp/targets/files/folder-claim.ts';
import { type HandOverOptions, type HandOverStep, handOverSlice } from '../../../src/erp/targets/files/hand-over.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import { summariseBatch } from '../../../src/ledger/summaries/summarise.ts';
import { deliveryStatus } from '../../../src/queries/delivery-status.ts';
import type { PostingMode } from '../../../src/terms.ts';
import { draft, party } from '../../ledger/drafts.ts';
import { expectedKey } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import { demoConfig } from '../../support/demo-config.ts';
import { runs } from '../../support/runs.ts';
import { query } from '../../support/sql.ts';
import { unitsByState } from '../states.ts';
import { entriesOfCsv, readCsvFile } from './readers/csv.ts';
import { entriesOfDatev, readDatev } from './readers/datev.ts';
import { cents, type ReadEntry } from './readers/entry.ts';
import { readSie } from './readers/sie.ts';

const { db, url } = useDatabase();
const root = mkdtempSync(join(tmpdir(), 'vetledger-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const by = { actedBy: 'tester', reason: 'a test' };

let id = 0;
beforeEach(() => {
  id += 1;
});
const folder = () => join(root, String(id));

type Kind = 'csv' | 'sie4' | 'datev';
const optionsOf: Record<Kind, string> = {
  csv: 'batches: at_once',
  sie4: 'company_name: Klinikka Oy',
  datev: 'consultant_number: 29098, client_number: 55003, account_length: 4',
};

/** The installation of a configuration file with these options. */
async function configured(kind: Kind, options = optionsOf[kind], mapping?: string): Promise<InstallationConfig> {
  const file = join(root, `${id}.yaml`);
  const erp = `{kind: ${kind}, auto: true, folder: "${folder()}", options: {${options}}}`;
  let more = {};
  if (mapping !== undefined) {
    writeFileSync(join(root, `${id}-mapping.yaml`), mapping);
    more = { mapping: join(root, `${id}-mapping.yaml`) };
  }
  writeFileSync(file, demoConfig([{ id, base_url: 'http://127.0.0.1:1', erp, ...more }]));
  const config = await loadConfig(file, { PRACTICE_TOKEN: 'secret' });
  return config.installations[0]!;
}

function invoice(n: number, date = '2026-01-15', cent = 100 + n): DraftEntry {
  const amount = (cent / 100).toFixed(2);
  return draft({
    ...{ kind: 'invoice', id: n, date, inputHash: `${date} ${amount}`, description: `Invoice ${n}` },
    lines: [
      ['1700', 'receivable', amount, { party: party(n), documentNumber: `A-${n}`, dueDate: '2026-02-28' }],
      ['3000', 'revenue', `-${amount}`, { departmentId: 1 }],
    ],
  });
}

function reversal(entryId: string, of: DraftEntry): DraftEntry {
  return { ...of, reason: 'source_changed', reverses: entryId, inputHash: entryId, lines: reversedLines(of.lines) };
}

const post = (drafts: DraftEntry[], mode: PostingMode = 'document') =>
  db.transaction((trx) => appendEntries(trx, id, drafts, { decimals: 2, windowId: null, postingMode: mode }));

async function enqueue(installation: InstallationConfig): Promise<void> {
  const company = companyKeyOf(installation.erp)!;
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation: id, databaseId: 'abc', company, from: null, auto: true }),
  );
}

const silent = { debug: () => {}, info: () => {}, warn: (_fields: object) => {} };

function handOver(
  installation: InstallationConfig,
  options: HandOverOptions & { now?: string; databaseId?: string; log?: typeof silent } = {},
) {
  const clock = {
    now: () => (options.now === undefined ? Date.now() : Date.parse(options.now)),
    elapsed: () => performance.now(),
    sleep: async () => {},
  };
  return handOverSlice(
    {
      ...{
        db,
        databaseId: options.databaseId ?? 'abc',
        installation,
        holder: 'test',
        clock,
        signal: new AbortController().signal,
      },
      ...{ pause: async () => {}, onProgress: () => {}, log: options.log ?? silent },
    },
    options,
  );
}

interface Manifest {
  batch: string;
  number: number;
  format: Kind;
  file: string;
  sha256: string;
  bytes: number;
  entries: number;
  rows: number;
  first_entry: string;
  last_entry: string;
  from: string;
  through: string;
  currency: string;
  accounts: Record<string, { debit: string; credit: string; balance: string }>;
  created: string;
}

/**
 * Reads the batches in the folder by number, like a program that fetches them: first the manifest, then the file that
 * it names.
 */
function batches(): { manifest: Manifest; entries: ReadEntry[] }[] {
  if (!existsSync(folder())) return [];
  const names = readdirSync(folder()).filter((name) => name.endsWith('.json') && name !== claimName);
  const all = names.toSorted().map((name) => {
    const manifest = JSON.parse(readFileSync(join(folder(), name), 'utf8')) as Manifest;
    const bytes = readFileSync(join(folder(), manifest.file));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(manifest.sha256);
    expect(bytes.length).toBe(manifest.bytes);
    const entries = readers[manifest.format](bytes);
    expect(entries.length).toBe(manifest.entries);
    expect([entries[0]!.unit, entries.at(-1)!.unit]).toEqual([manifest.first_entry, manifest.last_entry]);
    for (const [account, { debit, credit, balance }] of Object.entries(manifest.accounts)) {
      const amounts = entries
        .flatMap(({ lines }) => lines.filter((line) => line.account === account))
        .map(({ amount }) => cents(amount));
      expect(amounts.reduce((left, amount) => left + amount, 0n)).toBe(cents(balance));
      expect(cents(debit) - cents(credit)).toBe(cents(balance));
    }
    return { manifest, entries };
  });
  expect(all.map(({ manifest }) => manifest.number)).toEqual(all.map((_, index) => index + 1));
  return all;
}

const readers: Record<Kind, (bytes: Uint8Array) => ReadEntry[]> = {
  csv: (bytes) => entriesOfCsv(readCsvFile(bytes, 'international'), 'international'),
  sie4: (bytes) => readSie(bytes).vouchers,
  datev: (bytes) => entriesOfDatev(readDatev(bytes)),
};
const unitsIn = () => batches().map(({ entries }) => entries.map(({ unit }) => unit.replace(`${id}/`, '')));
const stateOf = async (unit: string) => (await unitsById(db, id, [unit]))[0]!;

describe.each(['csv', 'sie4', 'datev'] as const)('%s', (kind) => {
  it('due units are handed over once, in numbered batches with a manifest', async () => {
    const installation = await configured(kind);
    const posted = await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    expect(await handOver(installation)).toEqual({
      ...{ delivered: 2, refused: 0, uncertain: 0, left: 0, nextDueMs: null, waitingFor: null },
    });
    expect(await handOver(installation)).toMatchObject({ delivered: 0 });
    await post([invoice(3)]);
    await enqueue(installation);
    await handOver(installation);
    expect(unitsIn()).toEqual([['invoice/1/1', 'invoice/2/1'], ['invoice/3/1']]);
    const [first] = batches();
    expect(first!.manifest).toMatchObject({
      ...{
        batch: `${id}-000001`,
        format: kind,
        entries: 2,
        from: '2026-01-15',
        through: '2026-01-15',
        currency: 'EUR',
      },
      accounts: {
        1700: { debit: '2.03', credit: '0.00', balance: '2.03' },
        3000: { debit: '0.00', credit: '2.03', balance: '-2.03' },
      },
    });
    expect(await stateOf(posted[0]!)).toMatchObject({ state: 'handed_over', batch: 1, problem_code: null });
    // The file's content is deleted from the database, because it has personal names.
    expect(await query(db, 'select * from erp_batch_piece where installation = ?', [id])).toEqual([]);
  });

  const steps: HandOverStep[] = ['rendered', 'stored', 'temporary', 'renamed', 'manifest', 'marked', 'done'];
  it.each(steps)('a crash after «%s» loses nothing and repeats nothing', async (at) => {
    const installation = await configured(kind);
    await post([invoice(1), invoice(2), invoice(3)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === at) throw new Error('killed');
    };
    await expect(handOver(installation, { maxUnits: 2, onStep: crash })).rejects.toThrow('killed');
    const isBatch = (name: string) => !name.startsWith('.') && name !== claimName;
    const left = existsSync(folder()) ? readdirSync(folder()).filter(isBatch) : [];
    const before = left.map((name) => [name, readFileSync(join(folder(), name), 'latin1')]);
    await post([invoice(4)]);
    await enqueue(installation);
    await handOver(installation, { maxUnits: 2 });
    const names = readdirSync(folder());
    expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
    // Files that had their final name before the crash are unchanged.
    for (const [name, content] of before) expect(readFileSync(join(folder(), name!), 'latin1')).toBe(content);
    expect(unitsIn().flat().toSorted()).toEqual(['invoice/1/1', 'invoice/2/1', 'invoice/3/1', 'invoice/4/1']);
    expect(await unitsByState(db, id)).toEqual({ handed_over: 4 });
  });
});

/** Restores the state of a backup: the units wait, and there is no batch. */
async function restore(): Promise<void> {
  await query(db, 'delete from erp_batch where installation = ?', [id]);
  await query(
    db,
    `update erp_unit set state = 'pending', batch = null, attempt_id = null, sent_at = null where installation = ?`,
    [id],
  );
}

describe('a database that was restored from a backup before a batch', () => {
  it.each(['csv', 'sie4', 'datev'] as const)('makes the same batch again: %s', async (kind) => {
    const installation = await configured(kind);
    await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    await handOver(installation);
    const before = readdirSync(folder()).map((name) => [name, readFileSync(join(folder(), name), 'latin1')]);
    await restore();
    expect(await handOver(installation)).toMatchObject({ delivered: 2, left: 0, waitingFor: null });
    expect(readdirSync(folder()).map((name) => [name, readFileSync(join(folder(), name), 'latin1')])).toEqual(before);
    expect(await ackBatches(db, [{ installation: id, number: 1, folder: folder() }], by)).toMatchObject([{ units: 2 }]);
  });

  it('records the batches in the folder, and makes one of the new units', async () => {
    const installation = await configured('csv');
    await post([invoice(1), invoice(2), invoice(3)]);
    await enqueue(installation);
    await handOver(installation, { maxUnits: 2 });
    await restore();
    await post([invoice(4)]);
    await enqueue(installation);
    expect(await handOver(installation)).toMatchObject({ delivered: 4, left: 0, waitingFor: null });
    expect(unitsIn()).toEqual([['invoice/1/1', 'invoice/2/1'], ['invoice/3/1'], ['invoice/4/1']]);
  });

  it.each(['csv', 'sie4', 'datev'] as const)(
    'takes over batches that it would make in another order: %s',
    async (kind) => {
      const installation = await configured(kind);
      for (const n of [2, 3, 1]) {
        await post([invoice(n)]);
        await enqueue(installation);
        await handOver(installation);
      }
      const before = readdirSync(folder()).map((name) => [name, readFileSync(join(folder(), name), 'latin1')]);
      await restore();
      // After the restore, one window has posted all documents again, in the order of their ids.
      await query(db, `update erp_unit set seq = split_part(unit_id, '/', 3)::int where installation = ?`, [id]);
      await post([invoice(4)]);
      await enqueue(installation);
      expect(await handOver(installation)).toMatchObject({ delivered: 4, left: 0, waitingFor: null });
      expect(unitsIn()).toEqual([['invoice/2/1'], ['invoice/3/1'], ['invoice/1/1'], ['invoice/4/1']]);
      for (const [name, content] of before) expect(readFileSync(join(folder(), name!), 'latin1')).toBe(content);
      expect(await ackBatches(db, [{ installation: id, number: 3, folder: folder() }], by)).toMatchObject([
        { units: 1 },
      ]);
      expect(await stateOf(`${id}/invoice/1/1`)).toMatchObject({ state: 'acknowledged', batch: 3 });
    },
  );

  it('reports entries that differ and entries that the books lack, and hands over neither again', async () => {
    const installation = await configured('csv');
    const [one] = await post([invoice(1), invoice(2), invoice(3)]);
    await enqueue(installation);
    await handOver(installation);
    const before = batches();
    await restore();
    // Since then the source changed the first document, and voided the third before it was posted again.
    await query(db, `update entry_party_name set name = 'Somebody Else' where entry_id = ?`, [one!]);
    await query(db, 'delete from erp_unit where unit_id = ?', [`${id}/invoice/3/1`]);
    const warnings: object[] = [];
    const log = { ...silent, warn: (fields: object) => void warnings.push(fields) };
    expect(await handOver(installation, { log })).toMatchObject({
      delivered: 1,
      refused: 1,
      left: 0,
      waitingFor: null,
    });
    expect(warnings).toEqual([
      { installation: id, batch: `${id}-000001`, unknown: [`${id}/invoice/3/1`], unknown_count: 1 },
    ]);
    expect(await stateOf(one!)).toMatchObject({ state: 'refused', problem_code: 'erp_batch_differs' });
    expect((await stateOf(one!)).problem_message).toContain(`${id}-000001`);
    expect(await stateOf(`${id}/invoice/2/1`)).toMatchObject({ state: 'handed_over', batch: 1 });
    expect(batches()).toEqual(before);
  });

  it('waits for batches that are missing in the folder, while it has later ones', async () => {
    const installation = await configured('csv');
    for (const n of [1, 2]) {
      await post([invoice(n)]);
      await enqueue(installation);
      await handOver(installation);
    }
    await restore();
    const first = [`${id}-000001.csv`, `${id}-000001.json`].map((name) => join(folder(), name));
    for (const file of first) renameSync(file, `${file}.away`);
    const report = await handOver(installation);
    expect(report).toMatchObject({ delivered: 0, left: 2, waitingFor: { code: 'batch_missing' } });
    expect(report.waitingFor?.message).toContain(`${id}-000001`);
    for (const file of first) renameSync(`${file}.away`, file);
    expect(await handOver(installation)).toMatchObject({ delivered: 2, left: 0, waitingFor: null });
    expect(unitsIn()).toEqual([['invoice/1/1'], ['invoice/2/1']]);
  });

  it('takes over a batch whose entries wait for approval again', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    await handOver(installation);
    await restore();
    await query(db, 'update erp_unit set needs_approval = true where installation = ?', [id]);
    expect(await handOver(installation)).toMatchObject({ delivered: 1, waitingFor: null });
    expect(unitsIn()).toEqual([['invoice/1/1']]);
  });

  it('does not change a batch with other content, and reports it', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    await handOver(installation);
    const [{ manifest }] = batches() as [ReturnType<typeof batches>[number]];
    writeFileSync(join(folder(), manifest.file), 'another');
    await restore();
    expect(await handOver(installation)).toMatchObject({ delivered: 0, waitingFor: { code: 'batch_file_taken' } });
    expect(readFileSync(join(folder(), manifest.file), 'utf8')).toBe('another');
  });
});

describe('a folder that another database has claimed', () => {
  it('gets no batch of this one before it is adopted; claims of other installations stay', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    await handOver(installation);
    const before = readdirSync(folder());
    const claimed = JSON.parse(readFileSync(join(folder(), claimName), 'utf8'));
    expect(claimed).toEqual({ claim: 1, installations: { [id]: expectedKey('abc', '').slice(0, 6) } });
    claimed.installations['1'] = 'ABCDEF';
    writeFileSync(join(folder(), claimName), JSON.stringify(claimed));
    await post([invoice(2)]);
    await enqueue(installation);
    const report = await handOver(installation, { databaseId: 'another' });
    expect(report).toMatchObject({ delivered: 0, nextDueMs: null, waitingFor: { code: 'erp_company_foreign' } });
    expect(report.waitingFor?.message).toContain(expectedKey('abc', '').slice(0, 6));
    expect(readdirSync(folder())).toEqual(before);
    const by = { actedBy: 'M. Virtanen', reason: 'the old server is gone' };
    await adoptEntries({ db, databaseId: 'another' }, installation, by);
    expect(await handOver(installation, { databaseId: 'another' })).toMatchObject({ delivered: 1, waitingFor: null });
    expect(JSON.parse(readFileSync(join(folder(), claimName), 'utf8')).installations).toEqual({
      1: 'ABCDEF',
      [id]: expectedKey('another', '').slice(0, 6),
    });
    expect(await query(db, `select acted_by, reason from action_done where kind = 'adopt_entries'`)).toEqual([
      { acted_by: by.actedBy, reason: by.reason },
    ]);
  });

  it('stops both databases if the claim is unreadable', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    mkdirSync(folder(), { recursive: true });
    writeFileSync(join(folder(), claimName), '{');
    expect((await handOver(installation)).waitingFor?.code).toBe('erp_company_foreign');
    expect(readdirSync(folder())).toEqual([claimName]);
  });
});

it('crashes at random moments, while entries are posted, lose nothing and repeat nothing', async () => {
  const round = fc.record({
    posted: fc.nat(5),
    maxUnits: fc.integer({ min: 1, max: 4 }),
    // The process crashes after this number of steps, or not at all.
    crashAfter: fc.integer({ min: 1, max: 25 }),
  });
  const lives = fc.tuple(fc.constantFrom('csv', 'sie4', 'datev'), fc.array(round, { minLength: 2, maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(lives, async ([kind, rounds]) => {
      id += 1;
      const installation = await configured(kind);
      let posted = 0;
      for (const { posted: more, maxUnits, crashAfter } of rounds) {
        const drafts = Array.from({ length: more }, (_, index) =>
          invoice(posted + index + 1, `2026-0${1 + (index % 2)}-15`),
        );
        await post(drafts);
        posted += more;
        await enqueue(installation);
        let steps = 0;
        const crash = () => {
          steps += 1;
          if (steps === crashAfter) throw new Error('killed');
        };
        await handOver(installation, { maxUnits, onStep: crash }).catch((error: Error) =>
          expect(error.message).toBe('killed'),
        );
      }
      await handOver(installation);
      const units = unitsIn().flat();
      expect(units.toSorted()).toEqual(
        Array.from({ length: posted }, (_, index) => `invoice/${index + 1}/1`).toSorted(),
      );
    }),
    { numRuns: runs(10) },
  );
});

describe('a process that is killed', () => {
  it.each(['stored', 'temporary', 'renamed', 'marked'] as const)('after «%s» leaves nothing half done', async (at) => {
    const installation = await configured('csv');
    await post([invoice(1), invoice(2), invoice(3)]);
    await enqueue(installation);
    const script = fileURLToPath(new URL('killed.ts', import.meta.url));
    const { signal, stderr } = spawnSync(process.execPath, [script, url, join(root, `${id}.yaml`), at], {
      encoding: 'utf8',
    });
    expect(signal, stderr).toBe('SIGKILL');
    expect(await handOver(installation)).toMatchObject({ left: 0, waitingFor: null });
    expect(unitsIn()).toEqual([['invoice/1/1', 'invoice/2/1'], ['invoice/3/1']]);
    expect(readdirSync(folder()).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(await unitsByState(db, id)).toEqual({ handed_over: 3 });
  });
});

describe('the same batch after a crash', () => {
  it('is written byte for byte, even if configuration and mapping have changed', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === 'temporary') throw new Error('killed');
    };
    await expect(handOver(installation, { onStep: crash })).rejects.toThrow('killed');
    const [stored] = await query<{ sha256: string }>(db, 'select sha256 from erp_batch where installation = ?', [id]);
    const mapping = `${readFileSync(installation.mappingPath, 'utf8')}\nerp: {journals: {"*": X}}\n`;
    await handOver(await configured('csv', 'dialect: semicolon', mapping));
    const bytes = readFileSync(join(folder(), `${id}-000001.csv`));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(stored!.sha256);
    expect(unitsIn()).toEqual([['invoice/1/1']]);
  });

  it('is written into the currently configured folder', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === 'stored') throw new Error('killed');
    };
    await expect(handOver(installation, { onStep: crash })).rejects.toThrow('killed');
    const elsewhere = join(root, `${id}-elsewhere`);
    await post([invoice(2)]);
    await enqueue(installation);
    const moved = { ...installation, erp: { ...installation.erp, folder: elsewhere } as InstallationConfig['erp'] };
    expect(await handOver(moved)).toMatchObject({ delivered: 2, left: 0 });
    expect(readdirSync(elsewhere).length).toBe(5);
    expect(await unitsByState(db, id)).toEqual({ handed_over: 2 });
  });

  it('is withdrawn if units were taken out of it; the others are in the next batch', async () => {
    const installation = await configured('csv');
    const [taken] = await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === 'stored') throw new Error('killed');
    };
    await expect(handOver(installation, { onStep: crash })).rejects.toThrow('killed');
    await execute(db, `update erp_unit set state = 'excluded' where installation = ? and unit_id = ?`, [id, taken!]);
    expect(await handOver(installation)).toMatchObject({ delivered: 1, left: 0 });
    expect(readdirSync(folder())).toEqual([`${id}-000002.csv`, `${id}-000002.json`, claimName]);
    expect(await query(db, 'select * from erp_batch_piece where installation = ?', [id])).toEqual([]);
  });

  it('is written once by two concurrent processes', async () => {
    const installation = await configured('csv');
    await post(Array.from({ length: 20 }, (_, index) => invoice(index + 1)));
    await enqueue(installation);
    const reports = await Promise.all([1, 2, 3].map(() => handOver(installation, { maxUnits: 3 })));
    expect(reports.reduce((units, { delivered }) => units + delivered, 0)).toBe(20);
    expect(unitsIn().flat().length).toBe(20);
    expect(new Set(unitsIn().flat()).size).toBe(20);
  });
});

describe('a unit in a batch', () => {
  it('follows the unit that it corrects', async () => {
    const installation = await configured('datev');
    const first = invoice(1, '2026-02-10');
    const [entryId] = await post([first]);
    // The correction is dated in the month before. Its file must not come first.
    await post([reversal(entryId!, first), invoice(1, '2026-01-10'), invoice(2, '2026-01-11')]);
    await enqueue(installation);
    await handOver(installation);
    expect(unitsIn()).toEqual([
      ['invoice/1/1', 'invoice/1/2'],
      ['invoice/1/3', 'invoice/2/1'],
    ]);
    expect(batches().map(({ manifest }) => manifest.file)).toEqual([
      `EXTF_${id}-000001_2026-02.csv`,
      `EXTF_${id}-000002_2026-01.csv`,
    ]);
  });

  it('waits for approval, for its predecessor, and for the end of a pause', async () => {
    const installation = await configured('csv');
    const first = invoice(1);
    const [entryId] = await post([first]);
    await post([reversal(entryId!, first), invoice(2)]);
    await enqueue(installation);
    await execute(db, 'update erp_unit set needs_approval = true where installation = ? and unit_id = ?', [
      id,
      entryId!,
    ]);
    await db.transaction((trx) => pauseDelivery(trx, id, by));
    expect(await handOver(installation)).toMatchObject({ delivered: 0, waitingFor: { code: 'delivery_paused' } });
    expect(batches()).toEqual([]);
    await db.transaction((trx) => resumeDelivery(trx, id, by));
    expect(await handOver(installation)).toMatchObject({ delivered: 1, left: 0, nextDueMs: null });
    expect(unitsIn()).toEqual([['invoice/2/1']]);
    await db.transaction((trx) => approveUnits(trx, id, '2026-12-31', by));
    await handOver(installation);
    expect(unitsIn()).toEqual([['invoice/2/1'], ['invoice/1/1', 'invoice/1/2']]);
  });

  it('may be a daily summary', async () => {
    const installation = await configured('csv');
    await post([invoice(1), invoice(2)], 'daily_summary');
    await db.transaction((trx) => summariseBatch(trx, id, { before: '2026-02-01', windowId: null }));
    await enqueue(installation);
    await handOver(installation);
    expect(unitsIn()).toEqual([expect.arrayContaining([expect.stringMatching(/^summary\/2026-01-15-/)])]);
  });

  it('is due in daily or monthly batches once the day or month is over in the clinic', async () => {
    const installation = await configured('csv', 'batches: daily');
    await post([invoice(1)]);
    await enqueue(installation);
    await execute(db, `update erp_unit set enqueued_at = '2026-03-10T20:00:00Z' where installation = ?`, [id]);
    // The time is 23:30 in Helsinki.
    expect(await handOver(installation, { now: '2026-03-10T21:30:00Z' })).toMatchObject({
      ...{ delivered: 0, left: 1, nextDueMs: 30 * 60_000, waitingFor: null },
    });
    const monthly = await configured('csv', 'batches: monthly');
    expect(await handOver(monthly, { now: '2026-03-31T20:00:00Z' })).toMatchObject({ left: 1, nextDueMs: 3_600_000 });
    expect(await handOver(installation, { now: '2026-03-10T22:00:00Z' })).toMatchObject({ delivered: 1, left: 0 });
  });
});

describe('a unit that the format cannot hold', () => {
  const oneAccount = (n: number) =>
    draft({
      ...{ kind: 'payment', id: n, date: '2026-01-20' },
      lines: [
        ['2400', 'prepayment_liability', '5.00'],
        ['2400', 'prepayment_liability', '-5.00'],
      ],
    });

  it('is refused with a plain problem, and the others are handed over', async () => {
    const installation = await configured('datev');
    const [refused] = await post([oneAccount(9), invoice(1)]);
    await enqueue(installation);
    expect(await handOver(installation)).toMatchObject({ delivered: 1, refused: 1, left: 0 });
    expect(await stateOf(refused!)).toMatchObject({
      ...{ state: 'refused', batch: null, problem_code: 'erp_not_in_pairs' },
      problem_message:
        'DATEV requires pairs of two different accounts, and the lines of the entry cannot be split into such pairs',
    });
    expect(unitsIn()).toEqual([['invoice/1/1']]);
    await db.transaction((trx) => retryUnits(trx, id, null, by));
    expect(await handOver(installation)).toMatchObject({ delivered: 0, refused: 1 });
    expect(unitsIn()).toEqual([['invoice/1/1']]);
  });

  it('is tried again automatically once the mapping has the missing value', async () => {
    const installation = await configured('csv');
    const demo = readFileSync(installation.mappingPath, 'utf8');
    const lacking = `${demo}\nerp: {dimensions: {department: {name: Team, values: {"9": X}}}}\n`;
    await post([invoice(1)]);
    await enqueue(installation);
    expect(await handOver(await configured('csv', optionsOf.csv, lacking))).toMatchObject({ delivered: 0, refused: 1 });
    expect(await handOver(await configured('csv', optionsOf.csv, lacking))).toMatchObject({ delivered: 0, refused: 0 });
    const complete = lacking.replace('"9": X', '"1": Y');
    expect(await handOver(await configured('csv', optionsOf.csv, complete))).toMatchObject({
      delivered: 1,
      refused: 0,
    });
    const [row] = readCsvFile(readFileSync(join(folder(), `${id}-000001.csv`)), 'international').filter(
      ({ Team }) => Team,
    );
    expect(row).toMatchObject({ Team: 'Y', account: '3000' });
  });
});

describe('the folder', () => {
  it('that is not writable delays the batch', async () => {
    writeFileSync(folder(), 'a file where the folder should be');
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    const report = await handOver(installation);
    expect(report).toMatchObject({
      delivered: 0,
      left: 1,
      nextDueMs: 60_000,
      waitingFor: { code: 'batch_not_written' },
    });
    expect(report.waitingFor!.message).toContain(folder());
    expect(await deliveryStatus(db, installation)).toMatchObject({ last_error: { code: 'batch_not_written' } });
    rmSync(folder());
    expect(await handOver(installation)).toMatchObject({ delivered: 1, left: 0, waitingFor: null });
    expect(await deliveryStatus(db, installation)).toMatchObject({ delivered: 1, last_error: null });
    expect(unitsIn()).toEqual([['invoice/1/1']]);
  });

  it('keeps a file of another program with the batch’s name', async () => {
    mkdirSync(folder());
    writeFileSync(join(folder(), `${id}-000001.csv`), 'of another database');
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    expect(await handOver(installation)).toMatchObject({ delivered: 0, waitingFor: { code: 'batch_file_taken' } });
    expect(readFileSync(join(folder(), `${id}-000001.csv`), 'utf8')).toBe('of another database');
    rmSync(join(folder(), `${id}-000001.csv`));
    expect(await handOver(installation)).toMatchObject({ delivered: 1 });
    expect(unitsIn()).toEqual([['invoice/1/1']]);
  });

  it('is accessible to its owner and group only', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    await handOver(installation);
    expect(statSync(join(folder(), `${id}-000001.csv`)).mode & 0o007).toBe(0);
    expect(statSync(folder()).mode & 0o007).toBe(0);
  });
});

describe('deliver ack', () => {
  const ack = async (actedBy: string, reason: string) =>
    (await ackBatches(db, [{ installation: id, number: 1, folder: folder() }], { actedBy, reason }))[0];

  it('acknowledges the units of a batch once, with name and reason', async () => {
    const installation = await configured('sie4');
    await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    await handOver(installation);
    const acknowledged = { batch: `${id}-000001`, file: `${id}-000001.si` };
    expect(await ack('Bo', 'read in')).toEqual({ ...acknowledged, units: 2 });
    expect(await ack('Bo', 'again')).toEqual({ ...acknowledged, units: 0 });
    expect(await unitsByState(db, id)).toEqual({ acknowledged: 2 });
    const actions = 'select kind, input, result, acted_by, reason from action_done where installation = ?';
    expect(await query(db, actions, [id])).toEqual([
      {
        ...{ kind: 'acknowledge_batch', acted_by: 'Bo', reason: 'read in' },
        ...{ input: `{"batch":"${id}-000001"}`, result: `{"file":"${id}-000001.si","units":2}` },
      },
    ]);
  });

  it('allows an undo of imported units, in another batch', async () => {
    const installation = await configured('datev');
    await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    await handOver(installation);
    const year = { from: '2026-01-01', to: '2026-12-31' };
    const undo = () => db.transaction((trx) => undoUnits(trx, { installation: id, databaseId: 'abc' }, year, by));
    await expect(undo()).rejects.toMatchObject({ code: 'delivery_in_doubt' });
    await ack('Bo', 'read in');
    expect(await undo()).toEqual({ reversed: 2, withheld: 0 });
    expect(await handOver(installation)).toMatchObject({ delivered: 2, left: 0 });
    expect(unitsIn()[1]).toEqual(['invoice/1/1/undo/1', 'invoice/2/1/undo/1']);
    const [first, second] = batches();
    expect(first!.manifest.accounts['3000']!.balance).toBe('-2.03');
    expect(second!.manifest.accounts['3000']!.balance).toBe('2.03');
  });

  it('accepts written batches only', async () => {
    await expect(ack('Bo', '')).rejects.toMatchObject({ code: 'batch_unknown', exitCode: 1 });
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === 'stored') throw new Error('killed');
    };
    await expect(handOver(installation, { onStep: crash })).rejects.toThrow('killed');
    await expect(ack('Bo', '')).rejects.toMatchObject({ code: 'batch_not_written', exitCode: 1 });
  });

  it('accepts a batch in the folder whose process was killed before it was recorded', async () => {
    const installation = await configured('csv');
    await post([invoice(1), invoice(2)]);
    await enqueue(installation);
    const crash = (step: HandOverStep) => {
      if (step === 'manifest') throw new Error('killed');
    };
    await expect(handOver(installation, { onStep: crash })).rejects.toThrow('killed');
    expect(await ack('Bo', 'read in')).toMatchObject({ batch: `${id}-000001`, units: 2 });
    expect(await unitsByState(db, id)).toEqual({ acknowledged: 2 });
    expect(await handOver(installation)).toMatchObject({ delivered: 0, left: 0 });
  });

  it('says how a batch from before a restore can be acknowledged', async () => {
    const installation = await configured('csv');
    await post([invoice(1)]);
    await enqueue(installation);
    await handOver(installation);
    await restore();
    await expect(ack('Bo', '')).rejects.toMatchObject({
      code: 'batch_unknown',
      todo: expect.stringContaining('deliver resume'),
    });
    await handOver(installation);
    expect(await ack('Bo', 'read in')).toMatchObject({ units: 1 });
  });
});
