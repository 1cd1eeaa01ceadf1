// The state of a clinic as text: one line per record, then a line of counters that closes the batch. A state file
// begins with a batch of the whole clinic; each transaction appends a batch of its changes. A batch without its last
// line was cut off and is ignored. Snapshots have the same form.
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Clinic } from './clinic.ts';
import type { KeptClock, SandboxClock } from './clock.ts';
import type { Department, RecordBase, VatGroup } from './records.ts';

/** Changes are written after this delay, so a killed process may lose that much. */
const writeAfterMs = 50;
/** The file is rewritten when the appended batches exceed the first batch and this size. */
const minAppendedBytes = 4_000_000;
const chunkLength = 1_000_000;

/** The line that closes a batch. */
interface Counters {
  version: 2;
  next_ids: Record<string, number>;
  departments: Department[];
  vat_groups: VatGroup[];
  random: { live: number; online: number; supply: number };
  clock: KeptClock;
}

const countersOf = (clinic: Clinic, clock: SandboxClock): Counters => ({
  version: 2,
  next_ids: Object.fromEntries([...clinic.tables].map(([name, table]) => [name, table.nextId])),
  departments: [...clinic.departments.values()],
  vat_groups: clinic.vatGroups,
  random: { live: clinic.liveRng.state, online: clinic.onlineRng.state, supply: clinic.supplyRng.state },
  clock: clock.kept,
});

/** The whole clinic as one batch, in chunks of about a megabyte. */
export function* wholeText(clinic: Clinic, clock: SandboxClock): Generator<string> {
  let chunk = '';
  for (const [name, table] of clinic.tables) {
    for (const record of table.all()) {
      chunk += `${JSON.stringify([name, record])}\n`;
      if (chunk.length > chunkLength) {
        yield chunk;
        chunk = '';
      }
    }
  }
  yield `${chunk}${JSON.stringify(countersOf(clinic, clock))}\n`;
}

/** The changes since the last call, as one batch. */
const changesText = (clinic: Clinic, clock: SandboxClock): string => {
  let text = '';
  for (const [name, table] of clinic.tables) {
    for (const [id, record] of table.takeUnsaved()) text += `${JSON.stringify([name, record, id])}\n`;
  }
  return `${text}${JSON.stringify(countersOf(clinic, clock))}\n`;
};

/**
 * Fills an empty clinic from the batches of a text. Returns the length of its complete batches in bytes, and their
 * clock. Throws if the text is not a state file.
 */
export const fillClinic = (clinic: Clinic, bytes: Buffer, source: string): { wholeBytes: number; clock: KeptClock } => {
  let batch: [string, RecordBase | null, number?][] = [];
  let counters: Counters | null = null;
  let wholeBytes = 0;
  for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
    const line = readLine(bytes.toString('utf8', start, end), source);
    if (Array.isArray(line)) {
      batch.push(line);
      continue;
    }
    counters = line;
    for (const [name, record, id] of batch) put(clinic, name, record, id);
    batch = [];
    wholeBytes = end + 1;
  }
  if (counters === null) throw new Error(`${source} is not a sandbox state file`);
  for (const department of counters.departments) clinic.departments.set(department.id, department);
  clinic.vatGroups.push(...counters.vat_groups);
  clinic.liveRng.state = counters.random.live;
  clinic.onlineRng.state = counters.random.online;
  clinic.supplyRng.state = counters.random.supply;
  for (const [name, id] of Object.entries(counters.next_ids)) {
    const table = clinic.tables.get(name);
    if (table) table.nextId = id;
  }
  for (const table of clinic.tables.values()) table.takeUnsaved();
  return { wholeBytes, clock: counters.clock };
};

const readLine = (text: string, source: string): Counters | [string, RecordBase | null, number?] => {
  try {
    const line = JSON.parse(text);
    if (Array.isArray(line) || line?.version === 2) return line;
  } catch {
    // The error below names the file.
  }
  throw new Error(`${source} is not a sandbox state file, or one of another version`);
};

const put = (clinic: Clinic, name: string, record: RecordBase | null, id: number | undefined): void => {
  const table = clinic.tables.get(name);
  if (!table) return;
  if (record === null) {
    table.delete(id as number);
    return;
  }
  const existing = table.get(record.id);
  if (existing) table.change(existing, record);
  else table.add(record);
};

/** The state file of one clinic. Only the process that locked it may write it. */
export class StateFile {
  readonly #clinic: Clinic;
  readonly #clock: SandboxClock;
  readonly #file: string;
  readonly #isDurable: boolean;
  #descriptor: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #wholeBytes = 0;
  #appendedBytes = 0;
  /** The reason why the last write failed; null if it succeeded. */
  error: string | null = null;

  /**
   * Locks the file. With `isDurable`, each change is written to disk before its answer. Throws if another process has
   * the file.
   */
  constructor(clinic: Clinic, clock: SandboxClock, file: string, isDurable: boolean) {
    this.#clinic = clinic;
    this.#clock = clock;
    this.#file = file;
    this.#isDurable = isDurable;
    mkdirSync(dirname(file), { recursive: true });
    lock(file);
  }

  /** Fills the empty clinic from the file. Returns false if there is no file; throws if it cannot be read. */
  load(): boolean {
    if (!existsSync(this.#file)) return false;
    const { wholeBytes, clock } = fillClinic(this.#clinic, readFileSync(this.#file), this.#file);
    this.#clock.resume(clock);
    this.#wholeBytes = wholeBytes;
    this.#descriptor = openSync(this.#file, 'a', 0o600);
    // Cuts off an incomplete batch, so that the next one does not continue it.
    ftruncateSync(this.#descriptor, this.#wholeBytes);
    return true;
  }

  /** Writes the whole clinic to a new file and renames it, so that a reader sees either the old or the new file. */
  rewrite(): void {
    const temporary = `${this.#file}.${process.pid}.tmp`;
    const descriptor = openSync(temporary, 'w', 0o600);
    let bytes = 0;
    try {
      for (const table of this.#clinic.tables.values()) table.takeUnsaved();
      for (const text of wholeText(this.#clinic, this.#clock)) bytes += writeSync(descriptor, text);
      fsyncSync(descriptor);
    } catch (error) {
      closeSync(descriptor);
      rmSync(temporary, { force: true });
      throw error;
    }
    renameSync(temporary, this.#file);
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    closeSync(descriptor);
    this.#descriptor = openSync(this.#file, 'a', 0o600);
    [this.#wholeBytes, this.#appendedBytes] = [bytes, 0];
  }

  /** The store calls this at the end of each transaction. */
  changed(): void {
    if (this.#isDurable) {
      this.flush();
    } else if (this.#timer === null) {
      this.#timer = setTimeout(() => this.flush(), writeAfterMs);
      this.#timer.unref();
    }
  }

  /** Writes the changes. A failure is kept in `error`, and the next change writes the whole clinic. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const text = changesText(this.#clinic, this.#clock);
    try {
      if (this.error !== null || this.#appendedBytes > Math.max(minAppendedBytes, this.#wholeBytes)) this.rewrite();
      else this.#append(text);
      this.error = null;
    } catch (error) {
      if (this.error === null) process.stderr.write(`error: the clinic cannot be saved in ${this.#file}: ${error}\n`);
      this.error = error instanceof Error ? error.message : String(error);
    }
  }

  #append(text: string): void {
    this.#descriptor ??= openSync(this.#file, 'a', 0o600);
    writeFileSync(this.#descriptor, text);
    if (this.#isDurable) fsyncSync(this.#descriptor);
    this.#appendedBytes += Buffer.byteLength(text);
  }

  /** Writes the changes and unlocks the file. */
  close(): void {
    this.flush();
    this.release();
  }

  /** Closes and unlocks the file without writing. */
  release(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
    unlock(this.#file);
  }
}

/** Another process has the state file. */
export class StateFileTaken extends Error {
  override readonly name = 'StateFileTaken';
  readonly lockFile: string;

  constructor(file: string, process: number) {
    super(`the process ${process} has ${file} open`);
    this.lockFile = lockOf(file);
  }
}

const lockOf = (file: string): string => `${file}.lock`;
/** The files that this process has locked. */
const locked = new Set<string>();

/**
 * Makes the lock file with this process's id. A lock of a process that no longer runs is removed. Throws
 * StateFileTaken.
 */
const lock = (file: string): void => {
  const owner = existsSync(lockOf(file)) ? Number(readFileSync(lockOf(file), 'utf8')) : null;
  if (owner !== null) {
    // After a restart of a container, the new process can have the same id as the old one.
    const isHeld = owner === process.pid ? locked.has(file) : isAlive(owner);
    if (isHeld) throw new StateFileTaken(file, owner);
    rmSync(lockOf(file), { force: true });
  }
  writeFileSync(lockOf(file), String(process.pid), { flag: 'wx', mode: 0o600 });
  locked.add(file);
};

const unlock = (file: string): void => {
  if (locked.delete(file)) rmSync(lockOf(file), { force: true });
};

const isAlive = (pid: number): boolean => {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
