// The end of a life without faults: the last windows, a check of everything, the accountant's confirmations, and the
// delivery.

import { Rng } from '../../sandbox/src/rng.ts';
import { decideAll } from '../../src/bookkeeping/decide-many.ts';
import { Budget } from '../../src/practice/budget.ts';
import type { DocumentRef } from '../../src/terms.ts';
import type { SimulatedTemporal, WindowOptions } from './temporal.ts';
import type { World } from './world.ts';

const minuteMs = 60_000;
const calmMs = 24 * 60 * minuteMs;

export interface EndingPorts {
  world: World;
  temporal: SimulatedTemporal;
  rng: Rng;
  /** Runs a window. Returns its outcome. */
  window(options: WindowOptions): Promise<string>;
}

export class Ending {
  readonly #world: World;
  readonly #temporal: SimulatedTemporal;
  readonly #rng: Rng;
  readonly #window: EndingPorts['window'];

  constructor({ world, temporal, rng, window }: EndingPorts) {
    this.#world = world;
    this.#temporal = temporal;
    this.#rng = rng;
    this.#window = window;
  }

  /** Ends all faults, and waits until windows close and nothing is left to deliver. */
  async run(): Promise<void> {
    const { source, deletes, overlapMs, unseen, hides, quirks } = this.#world.traits;
    await this.#resetBudgets();
    // A count covers the records up to the highest id that a window has read.
    if (source === 'hostile') this.#world.staff.recordEach();
    await this.#world.time.sleep((quirks.lateCommitMs ?? 0) + 2 * overlapMs);
    const needsCounts = source === 'hostile' || this.#world.staff.deleted.size > 0;
    for (let closed = 0; closed < (needsCounts ? 3 : 2); closed++) {
      if (needsCounts && closed < 2) await this.#world.countNext();
      await this.#closedWindow();
    }
    if (this.#world.staff.restored > 0) await this.#closedWindow({ kind: 'backfill' });
    // If one record is hidden and another one put aside, the counts agree.
    if (unseen || source === 'hostile') {
      if (unseen) this.#world.staff.changeUnseen();
      await this.#world.time.sleep(overlapMs);
      await this.#temporal.scrub();
      await this.#closedWindow();
    }
    if (deletes && (await this.#confirmDeletions())) await this.#closedWindow();
    if (hides) await this.#hideForAWhile();
    await this.#deliverAll();
  }

  /**
   * The source hides records: each affected posted document must be named as missing, and the journal must not change.
   */
  async #hideForAWhile(): Promise<void> {
    const { clinic } = this.#world.practice;
    const share = this.#rng.pick([0.1, 0.5, 1]);
    const hidden = new Map<string, boolean>();
    const isHidden = (kind: string, id: number) => {
      const key = `${kind}/${id}`;
      if (!hidden.has(key)) hidden.set(key, new Rng(this.#world.seed, key).chance(share));
      return hidden.get(key) === true;
    };
    const { id } = this.#world.installation;
    const count = 'select count(*)::int as n from entry where installation = ?';
    const [before] = await this.#world.asked<{ n: number }>(count, [id]);
    this.#world.practice.hide(isHidden);
    await this.#readAllAgain();
    const posted = await this.#world.asked<DocumentRef & { isNamed: boolean }>(
      `select kind, id::int, coalesce(problem_code in ('missing_in_source', 'source_shrank'), false) as "isNamed"
       from document where installation = ? and state = 'posted'`,
      [id],
    );
    for (const { kind, id, isNamed } of posted) {
      const lacksRows = kind === 'invoice' && clinic.invoiceRows.of(id).some((row) => isHidden('row', row.id));
      if (isNamed !== (isHidden(kind, id) || lacksRows))
        this.#world.wrong.push(`${kind} ${id} is ${isNamed ? '' : 'not '}named as missing while records are hidden`);
    }
    const [after] = await this.#world.asked<{ n: number }>(count, [id]);
    if (after?.n !== before?.n) this.#world.wrong.push('entries were posted while records were hidden');
    this.#world.practice.hide(() => false);
    await this.#readAllAgain();
  }

  /** Runs windows that count the lists and read every row set again, like a pass of the scrub. */
  async #readAllAgain(): Promise<void> {
    for (let left = 2; left > 0; left--) {
      await this.#world.countNext();
      const sql = `update mirror_record set rows_source_time = null where installation = ? and kind = 'invoice'`;
      await this.#world.asked(sql, [this.#world.installation.id]);
      await this.#closedWindow();
    }
  }

  async #closedWindow(options: WindowOptions = {}): Promise<void> {
    const until = this.#world.time.nowMs + calmMs;
    do {
      if (this.#world.time.nowMs > until) throw new Error('no window closes within a day of calm');
      await this.#world.time.sleep(5 * minuteMs);
    } while ((await this.#window(options)) !== 'closed');
  }

  async #deliverAll(): Promise<void> {
    if (this.#world.erp === null) return;
    const until = this.#world.time.nowMs + calmMs;
    for (let left = 'all'; left !== ''; ) {
      // The daemon does this every five minutes.
      this.#temporal.requestDelivery();
      for (let waitedMs = 0; waitedMs < 5 * minuteMs && left !== ''; waitedMs += 20_000) {
        await this.#world.time.sleep(20_000);
        left = await this.#leftToDeliver();
      }
      if (this.#world.time.nowMs > until)
        throw new Error(`the delivery does not end within a day of calm: ${left}; refused: ${await this.#refused()}`);
    }
  }

  /** The refused units, which later units of their documents wait for. */
  async #refused(): Promise<string> {
    const found = await this.#world.asked<{ what: string }>(
      `select unit_id || ' ' || coalesce(problem_code, '') || ' ' || coalesce(problem_message, '') as what from erp_unit
       where installation = ? and state = 'refused'`,
      [this.#world.installation.id],
    );
    return found.map(({ what }) => what).join('; ');
  }

  /** Describes what is left to deliver; empty if nothing is. Nothing is written to an affected record. */
  async #leftToDeliver(): Promise<string> {
    if (this.#temporal.isDelivering) return 'it is under way';
    const { id } = this.#world.installation;
    const affected = [...this.#world.hostility.culprits].join(' ');
    const left = await this.#world.asked<{ what: string }>(
      `select unit_id || ' ' || state || ' ' || coalesce(problem_message, '') as what from erp_unit
         where installation = ? and state not in ('delivered', 'refused', 'excluded', 'cancelled_out')
       union all select 'the number of ' || unit_id from erp_number_due where installation = ?
       union all select 'write-back ' || document_id || ' ' || state || ' ' || coalesce(error, '') from write_back
         where installation = ? and not (kind || '/' || document_id) = any(string_to_array(?, ' '))
           and value_is <> 'entry_id' and (state in ('pending', 'failed') or state = 'done' and read_back is null)`,
      [id, id, id, affected],
    );
    return left.map(({ what }) => what).join('; ');
  }

  /** The operator resets the rate budgets after 429s. */
  async #resetBudgets(): Promise<void> {
    const { id, dialect } = this.#world.installation;
    await this.#world.command(async (db) => {
      const clock = this.#world.time.clock();
      const budget = new Budget({ db, installation: id, dialect, windowSeconds: 60, requestTimeoutSeconds: 90, clock });
      for (const { action } of await budget.usage()) await budget.forget(action);
    });
  }

  /** The accountant confirms that deleted documents are gone. Returns whether there were any. */
  async #confirmDeletions(): Promise<boolean> {
    const { id } = this.#world.installation;
    const missing = await this.#world.asked<DocumentRef>(
      `select kind, id::int from document
       where installation = ? and problem_code in ('missing_in_source', 'source_shrank') order by kind, id`,
      [id],
    );
    const deleted = missing.filter(({ kind, id }) => this.#world.staff.deleted.has(`${kind}/${id}`));
    if (deleted.length === 0) return false;
    const by = { reason: 'deleted in the practice software', actedBy: 'M. Virtanen' };
    await this.#world.command((db) =>
      db.transaction((trx) => decideAll(trx, id, deleted, { decision: 'confirm_gone', ...by }, { chosen: true })),
    );
    for (const { kind, id } of deleted) this.#world.confirmed.add(`${kind}/${id}`);
    this.#world.tell(`confirmed to be gone: ${[...this.#world.confirmed].join(', ')}`);
    return true;
  }
}
