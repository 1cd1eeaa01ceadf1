// The state file: a JSON line of counters, then a line per record, so that a large clinic exceeds no string length limit.
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clinic } from './clinic.ts';
import type { Department, RecordBase, VatGroup } from './records.ts';

interface Header {
  version: 1;
  next_ids: Record<string, number>;
  departments: Department[];
  vat_groups: VatGroup[];
  live_rng: number;
  /** Absent in files of before. */
  online_rng?: number;
}

/** Settings of departments that files of before do not have. */
const laterSettings = { allow_nhp_processing: true, prescription_fee_item: null };

/** Writes a new file and renames it into place, so that a reader sees the old or the new one, whole. */
export const saveClinic = (clinic: Clinic, file: string): void => {
  const tables = [...clinic.tables];
  const header: Header = {
    version: 1,
    next_ids: Object.fromEntries(tables.map(([name, table]) => [name, table.nextId])),
    departments: [...clinic.departments.values()],
    vat_groups: clinic.vatGroups,
    live_rng: clinic.liveRng.state,
    online_rng: clinic.onlineRng.state,
  };
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  const descriptor = openSync(temporary, 'w', 0o600);
  try {
    let chunk = `${JSON.stringify(header)}\n`;
    for (const [name, table] of tables) {
      for (const record of table.all()) {
        chunk += `${JSON.stringify([name, record])}\n`;
        if (chunk.length > 1_000_000) {
          writeSync(descriptor, chunk);
          chunk = '';
        }
      }
    }
    writeSync(descriptor, chunk);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
};

/** Fills an empty clinic from the file. False if there is no file; throws if it cannot be read. */
export const loadClinic = (clinic: Clinic, file: string): boolean => {
  if (!existsSync(file)) return false;
  const bytes = readFileSync(file);
  const tables = clinic.tables;
  let start = 0;
  let isHeader = true;
  for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
    const line = JSON.parse(bytes.toString('utf8', start, end));
    start = end + 1;
    if (!isHeader) {
      const [name, record] = line as [string, RecordBase];
      tables.get(name)?.add(record);
      continue;
    }
    isHeader = false;
    const header = line as Header;
    if (header.version !== 1) throw new Error(`${file} is not a sandbox state file; remove it to start anew`);
    for (const department of header.departments) {
      clinic.departments.set(department.id, { ...laterSettings, ...department });
    }
    clinic.vatGroups.push(...header.vat_groups);
    clinic.liveRng.state = header.live_rng;
    if (header.online_rng !== undefined) clinic.onlineRng.state = header.online_rng;
    for (const [name, id] of Object.entries(header.next_ids)) {
      const table = tables.get(name);
      if (table) table.nextId = id;
    }
  }
  if (isHeader) throw new Error(`${file} is not a sandbox state file; remove it to start anew`);
  // A file of before consultations were kept has invoices that name some.
  const { consultations } = clinic.care;
  if (consultations.size === 0) {
    for (const { consultation } of clinic.invoices.all()) {
      if (consultation !== null) consultations.nextId = Math.max(consultations.nextId, consultation + 1);
    }
  }
  return true;
};

/** Saves after changes, at most every `everyMs` (less often if saving is slow), and at the end. */
export class Saver {
  readonly #save: () => void;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | null = null;
  #lastDurationMs = 0;

  constructor(save: () => void, everyMs: number) {
    this.#save = save;
    this.#everyMs = everyMs;
  }

  changed(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#run(), Math.max(this.#everyMs, 20 * this.#lastDurationMs));
    this.#timer.unref();
  }

  /** Saves once more, now. */
  finish(): void {
    this.#run();
  }

  #run(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const started = performance.now();
    this.#save();
    this.#lastDurationMs = performance.now() - started;
  }
}
