// The actions of a hostile source: wrong or failing answers, records that cannot be posted, lost write-backs, hidden
// records, and records that PostgreSQL refuses. It records which documents they affect.

import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { Db } from '../../src/db/pool.ts';
import type { RecordKind, SourceKind } from '../../src/terms.ts';
import { query } from '../support/sql.ts';
import { answerFaults } from './answers.ts';
import { amounts, harmless, type Poison, poisoned, poisons } from './poisons.ts';
import type { ActiveFault, SimulatedPractice } from './practice.ts';

const finalStatus = 3;
const kindOfList = {
  invoice: 'invoice',
  invoicerow: 'row',
  invoicepayment: 'payment',
  unallocatedpayment: 'prepayment',
};

/** Creates the table of refused records, which triggers read. It must be called once per database. */
export async function prepareRefusals(owner: Db): Promise<void> {
  const refuses = (table: string, kind: string, id: string, also: string) => `
    create function hostile.refuse_${table}() returns trigger language plpgsql as $$
      declare poison hostile.refused;
      begin
        select * into poison from hostile.refused r
        where r.installation = new.installation and r.tab = '${table}' and r.kind = ${kind} and r.id = ${id};
        if found ${also} then raise exception 'a secret value' using errcode = poison.state; end if;
        return new;
      end $$;
    create trigger hostile before insert or update on ${table} for each row execute function hostile.refuse_${table}();`;
  await owner.raw(`
    create schema hostile;
    create table hostile.refused (installation bigint, tab text, kind text, id bigint, state text);
    grant usage on schema hostile to public;
    grant select on hostile.refused to public;
    ${refuses('entry', 'new.kind', 'new.document_id', '')}
    ${refuses('mirror_record', 'new.kind', 'new.id', `and (tg_op = 'INSERT' or new.content_hash is distinct from old.content_hash)`)}`);
}

export interface HostilityOptions {
  practice: SimulatedPractice;
  owner: Db;
  installation: number;
  rng: Rng;
  tell(line: string): void;
}

export class Hostility {
  readonly #options: HostilityOptions;
  readonly #clinic: Clinic;
  /** Documents that must be held. */
  readonly culprits = new Set<string>();
  /** The culprits whose record is unusable. */
  readonly unusable = new Set<string>();
  /** Documents that may be held, because they depend on a held document. */
  readonly mayBeHeld = new Set<string>();
  /** The values that staff wrote, by prepayment. */
  readonly staffIds = new Map<number, string>();
  readonly staffNotes = new Map<number, string>();
  /** The highest ids at the end of the last window, which may have seen all lower ones. */
  #met = { invoice: 0, payment: 0, prepayment: 0 };

  constructor(options: HostilityOptions) {
    this.#options = options;
    this.#clinic = options.practice.clinic;
  }

  /** Changes records and answers before a window. */
  async begin(isFirst: boolean): Promise<void> {
    const { rng, practice, tell } = this.#options;
    const few = [
      [0, 2],
      [1, 4],
      [2, 3],
      [3, 1],
    ] as const;
    for (let n = rng.weighted(few); n > 0; n--) await this.#poison(isFirst);
    const chosen = new Set(Array.from({ length: rng.weighted(few) }, () => rng.pick(Object.keys(answerFaults))));
    const faults = [...chosen].map((name) => this.#faultOf(name));
    if (rng.chance(0.3)) faults.push(this.#doubtfulWriteBack());
    else if (rng.chance(0.4)) faults.push(this.#lyingWriteBack());
    practice.setFaults(faults);
    tell(`the server: ${faults.map(({ name }) => name).join(', ') || 'answers well'}`);
    if (rng.chance(0.3)) this.#hide();
  }

  /** Ends the contradictions of the window that has just run. */
  end(): void {
    const { invoices, invoicePayments, prepayments } = this.#clinic;
    const last = (records: readonly { id: number }[]) => records.at(-1)?.id ?? 0;
    this.#met = {
      invoice: last(invoices.all()),
      payment: last(invoicePayments.all()),
      prepayment: last(prepayments.all()),
    };
    this.#options.practice.setFaults([]);
    this.#options.practice.hide(() => false);
  }

  /** Determines the documents that depend on held ones in the current clinic. */
  settle(): void {
    for (const document of this.culprits) {
      if (!document.startsWith('invoice/')) continue;
      const invoice = Number(document.slice('invoice/'.length));
      for (const { id } of this.#clinic.invoicePayments.of(invoice)) this.mayBeHeld.add(`payment/${id}`);
      // A voided invoice posts nothing, even if its record is wrong.
      if (this.#clinic.invoices.get(invoice)?.status === finalStatus) continue;
      this.culprits.delete(document);
      this.mayBeHeld.add(document);
    }
  }

  /** True if a hostile action explains the mirror's version of a record. */
  concerns(kind: RecordKind, id: number): boolean {
    const invoice = kind === 'row' ? (this.#clinic.invoiceRows.get(id)?.invoice ?? 0) : 0;
    const document = kind === 'row' ? `invoice/${invoice}` : `${kind}/${id}`;
    return [this.culprits, this.mayBeHeld].some((documents) => documents.has(document));
  }

  /** Hides records from lists and look-ups, like a token that lost a right. */
  #hide(): void {
    const { rng, practice, tell } = this.#options;
    const share = rng.pick([0.02, 0.3, 1]);
    const { invoices, invoiceRows, invoicePayments, prepayments } = this.#clinic;
    const hidden = new Set<string>();
    const tables = { invoice: invoices, row: invoiceRows, payment: invoicePayments, prepayment: prepayments };
    for (const [kind, table] of Object.entries(tables))
      for (const { id } of table.all()) if (rng.chance(share)) hidden.add(`${kind} ${id}`);
    practice.hide((kind, id) => hidden.has(`${kind} ${id}`));
    tell(`the source hides ${hidden.size} records`);
  }

  async #poison(isFirst: boolean): Promise<void> {
    const { rng, owner, installation, practice, tell } = this.#options;
    const [kindOfPoison, names] = rng.weighted<['poison' | 'harmless' | 'database', Record<string, Poison>]>([
      [['poison', poisons], 4],
      [['poison', amounts], 2],
      [['harmless', harmless], 2],
      [['database', poisons], 2],
    ]);
    const [name, poison] = rng.pick(Object.entries(names)) as [string, Poison];
    const found = this.#victim(poison.list, isFirst);
    if (!found) return;
    const { id, document } = found;
    if (kindOfPoison === 'database') {
      const [kind, documentId] = document.split('/') as [SourceKind, string];
      // A posted document gets no new entry, and a row in the mirror is stored only when it changes.
      const isNew = Number(documentId) > this.#met[kind];
      if (poison.list === 'invoicerow' && !isNew) return;
      const table = isNew && rng.chance(0.5) ? 'entry' : 'mirror_record';
      await query(owner, 'insert into hostile.refused values (?, ?, ?, ?, ?)', [
        ...[installation, table, table === 'entry' ? kind : kindOfList[poison.list]],
        ...[table === 'entry' ? Number(documentId) : id, rng.pick(['22003', '22P05', '22001', '23514'])],
      ]);
      tell(`PostgreSQL refuses ${poison.list} ${id} in ${table}`);
    } else {
      practice.records.set(`${poison.list}/${id}`, (record) => poisoned(record, poison));
      tell(`${poison.list} ${id}: ${name}`);
      if (poison.unusable) this.unusable.add(document);
    }
    if (kindOfPoison !== 'harmless') this.culprits.add(document);
  }

  /** Picks a record that the next window requests, of a document that posts something. */
  #victim(list: Poison['list'], isFirst: boolean): { id: number; document: string } | null {
    const { rng, practice } = this.#options;
    const clinic = this.#clinic;
    const isOpen = (document: string) => !this.culprits.has(document) && !practice.records.has(document);
    if (list === 'unallocatedpayment') {
      const fits = clinic.prepayments
        .all()
        .filter(
          ({ id, status, refunds }) =>
            isOpen(`prepayment/${id}`) && refunds === null && ['Ready', 'Fully used'].includes(status),
        );
      const one = rng.pick(fits);
      if (!one) return null;
      if (!isFirst) clinic.update(clinic.prepayments, one, {});
      return { id: one.id, document: `prepayment/${one.id}` };
    }
    if (list === 'invoicepayment') {
      // A window reads a payment once, so it must be one that no window has read.
      const fits = clinic.invoicePayments
        .all()
        .filter(
          ({ id, invoice, paid }) =>
            id > this.#met.payment &&
            Number(paid) !== 0 &&
            clinic.invoices.get(invoice)?.status === finalStatus &&
            isOpen(`payment/${id}`),
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
          isOpen(`invoice/${id}`) &&
          clinic.invoiceRows.of(id).length > 0,
      );
    const one = rng.pick(fits);
    if (!one) return null;
    if (!isFirst) clinic.update(clinic.invoices, one, {});
    const document = `invoice/${one.id}`;
    return list === 'invoice' ? { id: one.id, document } : { id: rng.pick(clinic.invoiceRows.of(one.id)).id, document };
  }

  #faultOf(name: string): ActiveFault {
    const { rng } = this.#options;
    const fault = answerFaults[name];
    if (!fault) throw new Error(`no fault ${name}`);
    const share = fault.honest ? rng.pick([0.1, 0.3, 1]) : rng.pick([0.3, 1]);
    return { name, strike: fault.strike, share, most: Math.min(fault.most ?? 40, rng.pick([1, 3, 10, 40])) };
  }

  /** A write-back takes effect and its answer is lost; staff may write in between. */
  #doubtfulWriteBack(): ActiveFault {
    const clinic = this.#clinic;
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
          this.staffNotes.set(id, note);
        }
        if (rng.chance(0.3)) {
          const external_id = `STAFF-${rng.int(1, 999)}`;
          clinic.mergeExternalInfo(id, { external_id });
          this.staffIds.set(id, external_id);
        }
        return rng.pick([null, { ...answer, status: 500, body: 'down' }, { ...answer, status: 502, body: '<html>' }]);
      },
    };
  }

  /**
   * A write-back is answered with success, but it is not stored, or stored for another prepayment, without a new
   * `modified`.
   */
  #lyingWriteBack(): ActiveFault {
    const clinic = this.#clinic;
    return {
      name: 'a lying write-back',
      share: 0.5,
      most: 6,
      strike: (answer, { method, path }, rng) => {
        const id = Number(/unallocatedpayment\/(\d+)\/$/.exec(path)?.[1]);
        const written = clinic.prepayments.get(id);
        if (method !== 'PATCH' || answer.status !== 200 || !written || this.staffIds.has(id)) return answer;
        const { external_id } = written.external_info;
        Object.assign(written.external_info, { external_id: null });
        const other = rng.pick(clinic.prepayments.all());
        const isElsewhere = other && other.id !== id && !this.staffIds.has(other.id) && rng.chance(0.3);
        if (isElsewhere) clinic.mergeExternalInfo(other.id, { external_id: external_id ?? null });
        return { ...answer, body: rng.chance(0.5) ? '{}' : answer.body };
      },
    };
  }
}
