// One seeded round: a clinic behind a hostile server, windows with hostile neighbours, and at the end calm ones. What must hold:
// books equal the oracle's, every culprit is named, and no other document is late.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.ts';
import type { Quirks } from '../../../sandbox/src/index.ts';
import { Rng } from '../../../sandbox/src/rng.ts';
import { addDays } from '../../../sandbox/src/zone.ts';
import { decideAll } from '../../../src/bookkeeping/decide-many.ts';
import { type InstallationConfig, loadConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { closePeriods } from '../../../src/ledger/close.ts';
import { staticToken } from '../../../src/practice/auth.ts';
import { Budget } from '../../../src/practice/budget.ts';
import { createPracticeClient, type PracticeClient } from '../../../src/practice/client.ts';
import { writeBackFindings } from '../../../src/reconcile/e10-write-backs.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import type { DocumentKind, DocumentRef } from '../../../src/terms.ts';
import { demoConfig, demoMapping, fromEnvironment } from '../../support/demo-config.ts';
import { wrongBooks } from '../../support/expected-books.ts';
import { hiding } from '../../support/hiding.ts';
import { query } from '../../support/sql.ts';
import { type ActiveFault, HostileServer } from '../server.ts';
import { answerFaults } from './answers.ts';
import { harmless, type Poison, poisoned, poisons } from './poisons.ts';
import { type WindowEnd, type WindowOptions, WindowRunner } from './windows.ts';

export interface RoundReport {
  seed: number;
  /** What does not hold; empty when nothing is wrong. */
  wrong: string[];
  windows: number;
  /** Windows that failed or did not open, by their error's code. */
  failed: Record<string, number>;
  /** Faults that have struck, poisons and neighbours, by name. */
  faults: Record<string, number>;
  documents: number;
  culprits: number;
  requests: number;
  /** What was done, in order. */
  story: string[];
}

export interface Databases {
  /** As the program. */
  db: Db;
  /** As the owner of the tables, which can do what no program may. */
  owner: Db;
}

const finalStatus = 3;
/** A client's pauses between attempts are so much shorter. */
const hurry = 50;
const timeouts = { connectMs: 2_000, responseMs: 2_000, requestMs: 3_000 };
/** No round asks for more, so that the budget never is what a round waits for. */
const ampleLimit = 100_000;
/** Windows that are given up because a fault asks for waiting. */
const impatienceMs = 1_500;
const timezone = 'Europe/Helsinki';

/** Makes the table of what PostgreSQL refuses, which triggers read. Once for each database. */
export async function prepareDatabase({ owner }: Databases): Promise<void> {
  await owner.raw(`
    create schema hostile;
    create table hostile.refused (installation bigint, tab text, kind text, id bigint, state text);
    grant usage on schema hostile to public;
    grant select on hostile.refused to public;
    create function hostile.refuse_entry() returns trigger language plpgsql as $$
      declare poison hostile.refused;
      begin
        select * into poison from hostile.refused r
        where r.installation = new.installation and r.tab = 'entry' and r.kind = new.kind and r.id = new.document_id;
        if found then raise exception 'a secret value' using errcode = poison.state; end if;
        return new;
      end $$;
    create function hostile.refuse_record() returns trigger language plpgsql as $$
      declare poison hostile.refused;
      begin
        select * into poison from hostile.refused r
        where r.installation = new.installation and r.tab = 'mirror_record' and r.kind = new.kind and r.id = new.id;
        if found and (tg_op = 'INSERT' or new.content_hash is distinct from old.content_hash) then raise exception 'a secret value' using errcode = poison.state; end if;
        return new;
      end $$;
    create trigger hostile before insert on entry for each row execute function hostile.refuse_entry();
    create trigger hostile before insert or update on mirror_record for each row execute function hostile.refuse_record();`);
}

export async function playRound(databases: Databases, seed: number, installation: number): Promise<RoundReport> {
  const round = await Round.begin(databases, seed, installation);
  try {
    return await round.play();
  } finally {
    await round.end();
  }
}

interface Process {
  runner: WindowRunner;
  budget: Budget;
  client: PracticeClient;
}

class Round {
  readonly #databases: Databases;
  readonly #seed: number;
  readonly #server: HostileServer;
  readonly #installation: InstallationConfig;
  readonly #rng: Rng;
  readonly #processes: Process[];
  readonly #folder: string;
  /** Has the source hide records from lists and look-ups. */
  readonly #show: ReturnType<typeof hiding>;
  readonly #culprits = new Set<string>();
  /** Of these, those that no document can be made of. */
  readonly #unusable = new Set<string>();
  readonly #mayBeHeld = new Set<string>();
  /** Deleted at the clinic; of these, those that a person has confirmed to be gone. */
  readonly #deleted = new Set<string>();
  readonly #confirmed = new Set<string>();
  readonly #staffIds = new Map<number, string>();
  readonly #staffNotes = new Map<number, string>();
  readonly #wrong: string[] = [];
  readonly #story: string[] = [];
  readonly #failed: Record<string, number> = {};
  readonly #counted: Record<string, number> = {};
  #closedThrough: string | null = null;
  #windows = 0;
  /** Something has happened that only a census finds, at the end of the round. */
  #isLate = false;
  #isUnfinished = false;
  /** The highest ids when the last step ended: windows may have met everything up to them. */
  #met = { invoice: 0, payment: 0, prepayment: 0 };

  static async begin(databases: Databases, seed: number, id: number): Promise<Round> {
    const rng = new Rng(seed, 'round');
    const server = await HostileServer.start(id, seed, rng.int(15, 50), quirksOf(rng));
    const folder = mkdtempSync(join(tmpdir(), 'vetledger-hostile-'));
    const file = join(folder, 'vetledger.yaml');
    const settings = { id, base_url: server.url, rate_window_seconds: 1, overlap_seconds: 60 };
    writeFileSync(file, demoConfig([settings], { database_url: fromEnvironment('DATABASE_URL') }));
    const env = {
      PATH: process.env.PATH,
      PRACTICE_TOKEN: server.sandbox.token,
      DATABASE_URL: 'postgres://localhost/x',
    };
    const [configured] = (await loadConfig(file, env)).installations as [InstallationConfig];
    const { dialect } = configured;
    const ample = { list: ampleLimit, retrieve: ampleLimit, write: ampleLimit };
    const installation = {
      ...configured,
      dialect: { ...dialect, limits: { ...dialect.limits, unknown: ample, actions: {} } },
    };
    return new Round(databases, seed, server, installation, rng, folder);
  }

  private constructor(
    databases: Databases,
    seed: number,
    server: HostileServer,
    installation: InstallationConfig,
    rng: Rng,
    folder: string,
  ) {
    this.#databases = databases;
    this.#seed = seed;
    this.#server = server;
    this.#show = hiding(server.sandbox);
    this.#installation = installation;
    this.#rng = rng;
    this.#folder = folder;
    this.#processes = [this.#process(), this.#process()];
  }

  async play(): Promise<RoundReport> {
    const steps = this.#rng.int(2, 4);
    for (let step = 0; step < steps && this.#wrong.length === 0; step++) await this.#hostileStep(step === 0);
    if (this.#wrong.length === 0) await this.#calm();
    const { clinic } = this.#server.sandbox;
    for (const [name, times] of this.#server.struck) this.#count(name, times);
    return {
      ...{ seed: this.#seed, wrong: this.#wrong, windows: this.#windows, failed: this.#failed, faults: this.#counted },
      documents: clinic.invoices.size + clinic.invoicePayments.size + clinic.prepayments.size,
      ...{ culprits: this.#culprits.size, requests: this.#server.requests, story: this.#story },
    };
  }

  async end(): Promise<void> {
    for (const { client, budget } of this.#processes) {
      client.close();
      await budget.close();
    }
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A process of the program: its clients and budgets are its own. */
  #process(): Process {
    const { id, baseUrl, dialect } = this.#installation;
    const { db } = this.#databases;
    const clock = {
      ...systemClock,
      sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / hurry, signal),
    };
    const log = pino({ level: process.env.VETLEDGER_LOG ?? 'silent' }, pino.destination(2));
    const requestTimeoutSeconds = timeouts.requestMs / 1000;
    const budget = new Budget({
      ...{ db, installation: id, dialect, windowSeconds: 0.2, requestTimeoutSeconds },
      clock: systemClock,
    });
    const auth = staticToken(this.#server.sandbox.token);
    // The database's clock, as the program learns it, stands where the clinic's does.
    const take: Budget['take'] = async (...asked) => {
      const slot = await budget.take(...asked);
      return { ...slot, askedAt: new Date(slot.askedAt.getTime() + this.#server.passedMs) };
    };
    const client = createPracticeClient({
      ...{ installation: id, baseUrl, auth, dialect, log, clock, timeouts },
      budget: { take, roomInMs: (action, weight) => budget.roomInMs(action, weight), requestTimeoutSeconds },
    });
    const deps: ActivityDeps = {
      ...{ db, log, installations: new Map([[id, this.#installation]]), practice: () => client },
      workflows: { getHandle: () => ({ signal: async () => undefined }) } as unknown as ActivityDeps['workflows'],
      clock: () => new Date(clock.now()),
      sealKey: null,
    };
    return { runner: new WindowRunner(deps, id), budget, client };
  }

  #count(name: string, times = 1): void {
    this.#counted[name] = (this.#counted[name] ?? 0) + times;
  }

  #tell(text: string): void {
    this.#story.push(text);
  }

  async #hostileStep(isFirst: boolean): Promise<void> {
    const rng = this.#rng;
    if (!isFirst) this.#happenings();
    for (
      let n = rng.weighted([
        [0, 3],
        [1, 4],
        [2, 3],
        [3, 2],
      ]);
      n > 0;
      n--
    )
      await this.#poison(isFirst);
    const names = Object.keys(answerFaults);
    const chosen = new Set(
      Array.from(
        {
          length: rng.weighted([
            [0, 2],
            [1, 4],
            [2, 3],
            [3, 1],
          ]),
        },
        () => rng.pick(names),
      ),
    );
    const faults = [...chosen].map((name) => this.#faultOf(name));
    if (rng.chance(0.3)) faults.push(this.#doubtfulWriteBack());
    else if (rng.chance(0.4)) faults.push(this.#lyingWriteBack());
    this.#server.setFaults(faults);
    this.#tell(`the server: ${[...chosen].join(', ') || 'answers well'}`);
    await this.#hide();
    const isHonest = [...chosen].every((name) => answerFaults[name]?.honest);
    if ([...chosen].some((name) => answerFaults[name]?.unseen)) this.#isLate = true;
    const isSlow = [...chosen].some((name) => answerFaults[name]?.slow);
    const options: WindowOptions = isSlow ? { limitMs: impatienceMs } : {};
    const { ends, isExcused } = await this.#windowsBesideNeighbours(options);
    const isStruck = faults.length > 0 || isExcused;
    for (const end of ends) this.#judge(end, isStruck);
    const hasClosed = ends.some(({ outcome }) => outcome === 'closed');
    // A walk that an earlier window left unfinished is as of its beginning: the next window reads what changed since.
    const hasResumed = this.#isUnfinished || ends.some(({ outcome }) => outcome !== 'closed');
    this.#isUnfinished = !hasClosed;
    if (hasClosed && !hasResumed && isHonest && !this.#isLate && this.#wrong.length === 0)
      await this.#check('after a window that closed');
    this.#server.setFaults([]);
    this.#show(() => false);
    if (isSlow) await this.#resetBudgets();
    const { invoices, invoicePayments, prepayments } = this.#server.sandbox.clinic;
    const last = (records: readonly { id: number }[]) => records.at(-1)?.id ?? 0;
    this.#met = {
      invoice: last(invoices.all()),
      payment: last(invoicePayments.all()),
      prepayment: last(prepayments.all()),
    };
  }

  /** Now and then the source hides records for a step, from lists and look-ups, as it does for a token that lost a right. */
  async #hide(): Promise<void> {
    const rng = this.#rng;
    if (!rng.chance(0.3)) return;
    const share = rng.pick([0.02, 0.3, 1]);
    const { invoices, invoiceRows, invoicePayments, prepayments } = this.#server.sandbox.clinic;
    const hidden = new Set<string>();
    for (const [kind, table] of Object.entries({
      invoice: invoices,
      row: invoiceRows,
      payment: invoicePayments,
      prepayment: prepayments,
    }))
      for (const { id } of table.all()) if (rng.chance(share)) hidden.add(`${kind} ${id}`);
    this.#show((kind, id) => hidden.has(`${kind} ${id}`));
    this.#isLate = true;
    this.#count('records hidden');
    this.#tell(`the source hides ${hidden.size} records`);
    await query(this.#databases.owner, 'update installation_state set census_taken_at = null where installation = ?', [
      this.#installation.id,
    ]);
  }

  /** Windows of this step, and what goes on beside them; `isExcused`: a window may fail for it. */
  async #windowsBesideNeighbours(options: WindowOptions): Promise<{ ends: WindowEnd[]; isExcused: boolean }> {
    const rng = this.#rng;
    const neighbour = rng.weighted<string>([
      ['none', 6],
      ['another window', 2],
      ['a backfill', 2],
      ['a death', 2],
      ['giving up', 1],
      ['connections cut', 2],
      ['books closed', 1],
    ]);
    const [first, second] = this.#processes as [Process, Process];
    const run = ({ runner }: Process, given: WindowOptions = {}) => this.#window(runner, { ...options, ...given });
    if (neighbour !== 'none') this.#count(`beside: ${neighbour}`);
    this.#tell(`beside the window: ${neighbour}`);
    switch (neighbour) {
      case 'another window':
        return { ends: await Promise.all([run(first), run(second)]), isExcused: false };
      case 'a backfill': {
        const ends = await Promise.all([run(first), run(second, { kind: 'backfill' })]);
        return { ends: ends.slice(0, 1), isExcused: false };
      }
      case 'a death': {
        const ended = await run(first, { death: sleep(rng.int(5, 300)) });
        await this.#expireLeases();
        return { ends: ended.outcome === 'died' ? [await run(second)] : [ended], isExcused: false };
      }
      case 'giving up':
        return { ends: [await run(first, { limitMs: rng.int(5, 300) })], isExcused: true };
      case 'connections cut': {
        const cutting = this.#cutConnections(rng.int(10, 300));
        const ends = [await run(first)];
        await cutting;
        await this.#dropDeadConnections();
        return { ends, isExcused: true };
      }
      case 'books closed': {
        const closing = this.#closeBooks(rng.int(10, 300));
        const ends = [await run(first)];
        await closing;
        return { ends, isExcused: false };
      }
      default:
        return { ends: [await run(first)], isExcused: false };
    }
  }

  async #window(runner: WindowRunner, options: WindowOptions = {}): Promise<WindowEnd> {
    this.#windows += 1;
    const end = await runner.run(options);
    const code = end.error?.code;
    this.#tell(`${options.kind ?? 'window'}: ${end.outcome}${end.error ? ` (${code}: ${end.error.message})` : ''}`);
    if (code) this.#failed[code] = (this.#failed[code] ?? 0) + 1;
    return end;
  }

  /** An error says what it is; none is due where neither the server nor a neighbour does anything. */
  #judge({ outcome, error }: WindowEnd, isStruck: boolean): void {
    if (outcome === 'closed' || outcome === 'died') return;
    const told = `${error?.code}: ${error?.message}`;
    if (!isStruck) this.#wrong.push(`the window ${outcome}, for no fault of the server: ${told}`);
    else if (error === null || error.code === 'unexpected' || error.message.trim() === '' || error.todo === '') {
      this.#wrong.push(`the window's error does not say what it is: ${told}`);
    }
  }

  #happenings(): void {
    const { sandbox } = this.#server;
    const rng = this.#rng;
    this.#server.pass(rng.int(30, 200) * 1000);
    const events = sandbox.live(rng.int(0, 12));
    if (rng.chance(0.1)) this.#delete();
    this.#server.pass(10_000);
    this.#tell(`${events.length} events at the clinic`);
  }

  /** Somebody deletes a prepayment that nothing refers to. */
  #delete(): void {
    const { clinic } = this.#server.sandbox;
    const used = new Set(clinic.invoicePayments.all().map(({ prepayment }) => prepayment));
    const found = clinic.prepayments
      .all()
      .filter(
        ({ id, refunds }) =>
          refunds === null && !used.has(id) && !clinic.prepayments.all().some((one) => one.refunds === id),
      )
      .filter(({ id }) => !this.#culprits.has(`prepayment/${id}`))
      .at(-1);
    if (!found || clinic.zone.date(found.created) <= (this.#closedThrough ?? '')) return;
    clinic.deleteRecord('unallocatedpayment', found.id);
    this.#deleted.add(`prepayment/${found.id}`);
    this.#count('a deletion');
    this.#isLate = true;
    this.#tell(`prepayment ${found.id} deleted`);
  }

  async #poison(isFirst: boolean): Promise<void> {
    const rng = this.#rng;
    const [kindOfPoison, names] = rng.weighted<['poison' | 'harmless' | 'database', Record<string, Poison>]>([
      [['poison', poisons], 6],
      [['harmless', harmless], 2],
      [['database', poisons], 2],
    ]);
    const [name, poison] = rng.pick(Object.entries(names)) as [string, Poison];
    const found = this.#victim(poison.list, isFirst);
    if (!found) return;
    const { id, document } = found;
    if (kindOfPoison === 'database') {
      const kind = {
        invoice: 'invoice',
        invoicerow: 'row',
        invoicepayment: 'payment',
        unallocatedpayment: 'prepayment',
      };
      const [docKind, docId] = document.split('/') as [DocumentKind, string];
      // What is posted already is appended no more.
      const isNew = Number(docId) > this.#met[docKind];
      // A row that the mirror has already is stored no more, unless it changes.
      if (poison.list === 'invoicerow' && !isNew) return;
      const table = isNew && rng.chance(0.5) ? 'entry' : 'mirror_record';
      await query(this.#databases.owner, 'insert into hostile.refused values (?, ?, ?, ?, ?)', [
        ...[this.#installation.id, table, table === 'entry' ? docKind : kind[poison.list]],
        ...[table === 'entry' ? Number(docId) : id, rng.pick(['22003', '22P05', '22001', '23514'])],
      ]);
      this.#count(`PostgreSQL refuses ${table}`);
      this.#tell(`PostgreSQL refuses ${poison.list} ${id} in ${table}`);
    } else {
      this.#server.records.set(`${poison.list}/${id}`, (record) => poisoned(record, poison));
      this.#count(`${kindOfPoison}: ${name}`);
      this.#tell(`${poison.list} ${id}: ${name}`);
      if (poison.unusable) this.#unusable.add(document);
    }
    if (kindOfPoison === 'harmless') return;
    this.#culprits.add(document);
    if (!document.startsWith('invoice/')) return;
    // Payments take their receivable from their invoice.
    this.#dependents(Number(document.split('/')[1]));
  }

  #dependents(invoice: number): void {
    for (const { id } of this.#server.sandbox.clinic.invoicePayments.of(invoice)) this.#mayBeHeld.add(`payment/${id}`);
  }

  /** A record that the next window asks for, of a document that has something to post. */
  #victim(list: Poison['list'], isFirst: boolean): { id: number; document: string } | null {
    const { clinic } = this.#server.sandbox;
    const rng = this.#rng;
    const open = (document: string) => !this.#culprits.has(document) && !this.#server.records.has(document);
    if (list === 'unallocatedpayment') {
      const fits = clinic.prepayments
        .all()
        .filter(
          ({ id, status, refunds }) =>
            open(`prepayment/${id}`) && refunds === null && ['Ready', 'Fully used'].includes(status),
        );
      const one = rng.pick(fits);
      if (!one) return null;
      if (!isFirst) clinic.update(clinic.prepayments, one, {});
      return { id: one.id, document: `prepayment/${one.id}` };
    }
    if (list === 'invoicepayment') {
      // Payments are never asked for again, so one that the windows have not met yet.
      const fits = clinic.invoicePayments
        .all()
        .filter(
          ({ id, invoice, paid }) =>
            id > this.#met.payment &&
            Number(paid) !== 0 &&
            clinic.invoices.get(invoice)?.status === finalStatus &&
            open(`payment/${id}`),
        );
      const one = rng.pick(fits);
      return one ? { id: one.id, document: `payment/${one.id}` } : null;
    }
    const fits = clinic.invoices
      .all()
      .filter(
        ({ id, status, total_with_vat, consolidated_invoices }) =>
          status === finalStatus &&
          consolidated_invoices.length === 0 &&
          Number(total_with_vat) !== 0 &&
          open(`invoice/${id}`) &&
          clinic.invoiceRows.of(id).length > 0,
      );
    const one = rng.pick(fits);
    if (!one) return null;
    if (!isFirst) clinic.update(clinic.invoices, one, {});
    const document = `invoice/${one.id}`;
    return list === 'invoice' ? { id: one.id, document } : { id: rng.pick(clinic.invoiceRows.of(one.id)).id, document };
  }

  #faultOf(name: string): ActiveFault {
    const fault = answerFaults[name];
    if (!fault) throw new Error(`no fault ${name}`);
    const share = fault.honest ? this.#rng.pick([0.1, 0.3, 1]) : this.#rng.pick([0.3, 1]);
    const most = Math.min(fault.most ?? Number.POSITIVE_INFINITY, this.#rng.pick([1, 3, 10, 40]));
    return { name, strike: fault.strike, share, most };
  }

  /** A write-back is done and its answer lost; staff may write there in between. */
  #doubtfulWriteBack(): ActiveFault {
    const { clinic } = this.#server.sandbox;
    return {
      name: 'a doubtful write-back',
      share: 0.7,
      most: 10,
      strike: (answer, { method, path }, rng) => {
        const id = Number(/unallocatedpayment\/(\d+)\//.exec(path)?.[1]);
        if (method !== 'PATCH' || answer.status !== 200 || !Number.isInteger(id)) return answer;
        if (rng.chance(0.4)) {
          const note = `note ${rng.int(1, 999)}`;
          clinic.mergeExternalInfo(id, { note });
          this.#staffNotes.set(id, note);
        }
        if (rng.chance(0.3)) {
          const external_id = `STAFF-${rng.int(1, 999)}`;
          clinic.mergeExternalInfo(id, { external_id });
          this.#staffIds.set(id, external_id);
        }
        return rng.pick([null, { ...answer, status: 500, body: 'down' }, { ...answer, status: 502, body: '<html>' }]);
      },
    };
  }

  /** A write-back is answered with success and not stored, or stored under another prepayment; `modified` tells nothing of it. */
  #lyingWriteBack(): ActiveFault {
    const { clinic } = this.#server.sandbox;
    return {
      name: 'a lying write-back',
      share: 0.5,
      most: 6,
      strike: (answer, { method, path }, rng) => {
        const id = Number(/unallocatedpayment\/(\d+)\/$/.exec(path)?.[1]);
        const written = clinic.prepayments.get(id);
        if (method !== 'PATCH' || answer.status !== 200 || !written || this.#staffIds.has(id)) return answer;
        const { external_id } = written.external_info;
        Object.assign(written.external_info, { external_id: null });
        const other = rng.pick(clinic.prepayments.all());
        const isElsewhere = other && other.id !== id && !this.#staffIds.has(other.id) && rng.chance(0.3);
        if (isElsewhere) clinic.mergeExternalInfo(other.id, { external_id: external_id ?? null });
        return { ...answer, body: rng.chance(0.5) ? '{}' : answer.body };
      },
    };
  }

  async #cutConnections(afterMs: number): Promise<void> {
    await sleep(afterMs);
    await query(
      this.#databases.owner,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and usename <> current_user and application_name = 'vetledger'`,
    );
  }

  /** The pool notices with the next use of each; the round's own questions are not what is tried. */
  async #dropDeadConnections(): Promise<void> {
    for (let well = 0; well < 3; ) {
      const asked = Array.from({ length: 10 }, () => query(this.#databases.db, 'select'));
      const isWell = (await Promise.allSettled(asked)).every(({ status }) => status === 'fulfilled');
      well = isWell ? well + 1 : 0;
    }
  }

  async #closeBooks(afterMs: number): Promise<void> {
    await sleep(afterMs);
    const { clinic } = this.#server.sandbox;
    const through = addDays(clinic.today(), -this.#rng.int(5, 15));
    if (this.#closedThrough !== null && this.#closedThrough >= through) return;
    await closePeriods(this.#databases.db, [{ id: this.#installation.id, today: clinic.today() }], through);
    this.#closedThrough = through;
    this.#tell(`books closed through ${through}`);
  }

  /** What somebody does who sees in `vetledger status` that a budget is blocked. */
  async #resetBudgets(): Promise<void> {
    const [{ budget }] = this.#processes as [Process];
    for (const { action } of await budget.usage()) await budget.forget(action);
  }

  /** Processes that died long ago hold no lease any more. */
  async #expireLeases(): Promise<void> {
    await query(
      this.#databases.owner,
      `update lease set expires_at = clock_timestamp() - interval '1 s' where installation = ?`,
      [this.#installation.id],
    );
  }

  /** A day later, with a server that does nothing wrong but for the records that stay as they are. */
  async #calm(): Promise<void> {
    this.#server.setFaults([]);
    const [{ runner }] = this.#processes as [Process];
    await this.#resetBudgets();
    await this.#expireLeases();
    this.#tell('calm');
    for (let n = 1; n <= 3; n++) {
      this.#server.pass(90_000);
      // Once for what the census finds, once for what it has fetched.
      if (n < 3)
        await query(
          this.#databases.owner,
          'update installation_state set census_taken_at = null where installation = ?',
          [this.#installation.id],
        );
      this.#judge(await this.#window(runner), false);
    }
    if (await this.#confirmDeletions()) this.#judge(await this.#window(runner), false);
    await this.#check('at the end');
    await this.#checkWriteBacks();
  }

  /**
   * What a person does who sees that the source does not show a document any more. Nothing is missing by now but what was deleted, and
   * what the source shows without a usable id.
   */
  async #confirmDeletions(): Promise<boolean> {
    const { id } = this.#installation;
    const missing = await query<DocumentRef>(
      this.#databases.owner,
      `select kind, id::int from document
       where installation = ? and problem_code in ('missing_in_source', 'source_shrank') order by kind, id`,
      [id],
    );
    const deleted: DocumentRef[] = [];
    for (const { kind, id } of missing) {
      const document = `${kind}/${id}`;
      if (this.#deleted.has(document)) deleted.push({ kind, id });
      else if (!this.#unusable.has(document)) this.#wrong.push(`${document} is missing, and the source shows it`);
    }
    if (deleted.length === 0) return false;
    const by = { reason: 'deleted in the practice software', actedBy: 'M. Virtanen' };
    const confirming = { decision: 'confirm_gone', ...by } as const;
    await this.#databases.db.transaction((trx) => decideAll(trx, id, deleted, confirming, { chosen: true }));
    for (const { kind, id } of deleted) this.#confirmed.add(`${kind}/${id}`);
    this.#tell(`confirmed to be gone: ${[...this.#confirmed].join(', ')}`);
    this.#server.pass(90_000);
    return true;
  }

  async #check(when: string): Promise<void> {
    const { id, decimals } = this.#installation;
    const { clinic } = this.#server.sandbox;
    const { owner } = this.#databases;
    for (const document of this.#culprits) {
      if (!document.startsWith('invoice/')) continue;
      const invoice = Number(document.slice('invoice/'.length));
      this.#dependents(invoice);
      // What was voided has nothing to post, however it is told.
      if (clinic.invoices.get(invoice)?.status === finalStatus) continue;
      this.#culprits.delete(document);
      this.#mayBeHeld.add(document);
    }
    if (this.#closedThrough !== null) this.#mayWaitForPeriod(this.#closedThrough);
    const found = await wrongBooks(owner, clinic, {
      ...{ installation: id, timezone, decimals, startDate: null, mapping: demoMapping },
      ...{ culprits: this.#culprits, mayBeHeld: this.#mayBeHeld },
    });
    // What no document can be made of is in no state.
    const wrong = found.filter((one) => !(/ is undefined, /.test(one) && this.#unusable.has(one.split(' ')[0] ?? '')));
    const states = await query<{ document: string; state: string }>(
      owner,
      `select kind || '/' || id as document, state from document where installation = ?`,
      [id],
    );
    const reversed = await query<{ id: string; document: string }>(
      owner,
      `select id, kind || '/' || document_id as document from entry where installation = ? and reason = 'gone'`,
      [id],
    );
    for (const entry of reversed.filter(({ document }) => !this.#confirmed.has(document)))
      this.#wrong.push(`${when}: ${entry.id} reverses what the source did not show`);
    const stateOf = new Map(states.map(({ document, state }) => [document, state]));
    const problems = await query<{ document: string; code: string; message: string }>(
      owner,
      `select kind || '/' || id as document, problem_code as code, problem_message as message from document
       where installation = ? and problem_code is not null`,
      [id],
    );
    const named = new Map(problems.map(({ document, ...problem }) => [document, problem]));
    const aside = await query<{ kind: string; n: number }>(
      owner,
      `select kind, count(*)::int as n from put_aside where installation = ? and record like '-%' group by kind`,
      [id],
    );
    for (const [kind, documents] of Map.groupBy(this.#unusable, (document) => document.split('/')[0])) {
      const unnamed = documents.filter((document) => this.#culprits.has(document) && !named.has(document)).length;
      const put = aside.find((one) => one.kind === kind)?.n ?? 0;
      if (put < unnamed) wrong.push(`${unnamed} ${kind}s without a usable id or of another tenant, ${put} put aside`);
    }
    for (const culprit of this.#culprits) {
      const problem = named.get(culprit);
      if (!problem && this.#unusable.has(culprit)) continue;
      if (!problem) wrong.push(`${culprit} is a culprit, and nothing names it: it is ${stateOf.get(culprit)}`);
      else if (!/\d/.test(problem.message)) wrong.push(`${culprit} is not named by: ${problem.message}`);
    }
    this.#wrong.push(...wrong.map((one) => `${when}: ${one}${this.#why(one, named)}`));
  }

  #why(text: string, named: Map<string, { code: string; message: string }>): string {
    const problem = named.get(text.split(' ')[0] ?? '');
    return problem ? ` [${problem.code}: ${problem.message.slice(0, 200)}]` : '';
  }

  /** What is dated in a closed period is held, or keeps the entry that it has. */
  #mayWaitForPeriod(through: string): void {
    const { clinic } = this.#server.sandbox;
    const dated: [DocumentKind, { id: number }[]][] = [
      ['invoice', clinic.invoices.all().filter(({ invoice_date }) => invoice_date <= through)],
      ['payment', clinic.invoicePayments.all().filter(({ date_added }) => clinic.zone.date(date_added) <= through)],
      ['prepayment', clinic.prepayments.all().filter(({ created }) => clinic.zone.date(created) <= through)],
    ];
    for (const [kind, records] of dated) for (const { id } of records) this.#mayBeHeld.add(`${kind}/${id}`);
  }

  async #checkWriteBacks(): Promise<void> {
    const { id: installation } = this.#installation;
    const posted = await query<{ id: number; entry: string; state: string | null }>(
      this.#databases.owner,
      `select d.id, d.entry_id as entry, w.state from document d
       left join write_back w on w.installation = d.installation and w.kind = d.kind and w.document_id = d.id and w.value = d.entry_id
       where d.installation = ? and d.kind = 'prepayment' and d.state = 'posted'`,
      [installation],
    );
    const named = new Set<number>();
    for await (const { prepayment, found } of writeBackFindings(
      this.#databases.owner,
      installation,
      this.#installation.dialect,
    )) {
      if (found === 'another' || found === 'lost') named.add(prepayment);
    }
    for (const { id, entry, state } of posted) {
      // Whether a write that was cut off was done cannot be read there.
      if (this.#unusable.has(`prepayment/${id}`)) continue;
      const info = this.#server.sandbox.clinic.prepayments.get(id)?.external_info;
      if (!info) continue;
      const staff = this.#staffIds.get(id);
      const note = this.#staffNotes.get(id);
      const isAsWanted =
        info.external_id === (staff ?? entry) || named.has(id) || (state === 'failed' && info.external_id === null);
      if (!isAsWanted)
        this.#wrong.push(
          `prepayment ${id} names ${info.external_id} at the source, should name ${staff ?? entry} (${state})`,
        );
      if (note !== undefined && info.note !== note) this.#wrong.push(`prepayment ${id} lost what staff wrote: ${note}`);
    }
  }
}

function quirksOf(rng: Rng): Partial<Quirks> {
  const ignorable = ['id__gt', 'invoice__in', 'modified__gte', 'id__in', 'id__lt'];
  return {
    order: rng.pick(['id', 'id', 'id_desc', 'random', 'modified']),
    ignoredFilters: rng.chance(0.3) ? [rng.pick(ignorable)] : [],
    refusedFilters: rng.chance(0.15) ? [rng.pick(['invoice__in', 'id__in', 'modified__lt'])] : [],
    decimals: rng.pick(['mixed', 'string', 'number']),
    timestamps: rng.pick(['offset', 'zulu', 'naive']),
    invoiceDateAsDatetime: rng.chance(0.2),
    extraFields: rng.chance(0.3),
    urlReferences: rng.pick(['absolute', 'query', 'otherHost']),
    paymentTouchesInvoice: rng.chance(0.7),
    refundLowersUnused: rng.chance(0.7),
    defaultPageSize: rng.pick([50, 50, 10]),
    maxPageSize: rng.pick([1000, 1000, 20]),
  };
}
