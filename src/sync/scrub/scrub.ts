import { bool, instant, integer, nullable } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import { reportScrubbed } from '../../documents/scrub-reports.ts';
import { markNotShown, reportAllMissing } from '../../mirror/not-shown.ts';
import { invalidateRowSets } from '../../mirror/row-sets.ts';
import type { SaveResult } from '../../mirror/types.ts';
import { keptFree } from '../../practice/budget.ts';
import { actionOf, type Dialect, limitOf } from '../../records/dialect.ts';
import type { RecordKind, SourceKind } from '../../terms.ts';
import { scrubTexts } from '../../texts/findings/scrub.ts';
import { pullById } from '../by-id.ts';
import { invoicesPerRequest } from '../by-invoice.ts';
import { ignoredFilters } from '../capabilities/filters.ts';
import { mayUse } from '../capabilities/recheck.ts';
import { readDefaultPageSizes } from '../capabilities/server.ts';
import type { PullContext, PullWatch } from '../context.ts';
import { type Cursors, readCursors } from '../cursors.ts';
import { pullList } from '../pull-list.ts';
import { pullRowSets } from '../pull-row-sets.ts';
import { scanStaleSets } from '../row-scan.ts';
import { changedFrom } from '../watermark.ts';
import {
  beginPass,
  type Finding,
  newestPass,
  noteFindings,
  noteStep,
  type ScrubbedStep,
  type ScrubPass,
} from './passes.ts';
import { dueInMs, nextBeginsAt } from './scrub-pace.ts';

/**
 * The scrub reads every record of the source again, in passes, and compares it with the mirror. A difference is saved
 * like in any pull, so that the next window posts it. It finds changes that no window reads: records that appear with
 * an old `modified`, records that are gone although the counts agree, and changes without a new `modified`.
 *
 * A pass reads each list in steps. A step reads all records between two ids of the mirror in one answer, which proves
 * its completeness whatever the order of the list (count-proof.ts). It then moves the pass's position. A step that was
 * killed is read again. Rows are read as whole sets of their invoices.
 */

export interface ScrubPace {
  /** The days that a pass takes. Null: a pass begins at once and runs as fast as the rate budget allows. */
  days: number | null;
  /** The share of each rate limit that the scrub takes even while others wait. */
  minShare: number;
  /** The slice ends after this number of requests. */
  requestsAtMost: number;
  now(): Date;
}

export interface SliceReport {
  state: 'first load' | 'waiting' | 'reading' | 'finished';
  /** Milliseconds until the next step is due. */
  pauseMs: number;
}

/** Pause between checks whether the first load has ended. */
const firstLoadPauseMs = 300_000;

/** Reads the next part of a pass that is due. */
export async function scrubSlice(context: PullContext, pace: ScrubPace): Promise<SliceReport> {
  const { db, installation } = context;
  let requests = 0;
  let isFirst = true;
  for (;;) {
    const cursors = await readCursors(db, installation);
    // During the first load there is nothing to compare with.
    if (Object.values(cursors).some(({ value }) => value === null))
      return { state: 'first load', pauseMs: firstLoadPauseMs };
    const pass = await newestPass(db, installation);
    if (pass === null || pass.finishedAt !== null) {
      const waitMs =
        pass === null || pace.days === null ? 0 : nextBeginsAt(pass, pace.days).getTime() - pace.now().getTime();
      if (waitMs > 0) return { state: 'waiting', pauseMs: waitMs };
      if (!isFirst) return { state: 'finished', pauseMs: 0 };
      await context.transact((trx) => beginPass(trx, installation, pass?.pass ?? 0));
      isFirst = false;
      continue;
    }
    isFirst = false;
    const pauseMs = pace.days === null ? 0 : dueInMs(pass, pace.days, pace.now());
    if (pauseMs > 0) return { state: 'reading', pauseMs };
    if (requests >= pace.requestsAtMost) return { state: 'reading', pauseMs: 0 };
    const pageSizes = await readDefaultPageSizes(db, installation, context.dialect);
    requests += await new Step(context, pass, cursors, pace.minShare, pageSizes).run();
  }
}

/** Records of one page of the scrub, and how many of them have weight 1 together. */
export function scrubPage(dialect: Dialect, list: RecordKind, minShare: number, defaultPageSize: number) {
  const action = actionOf(dialect, list, 'list');
  const most = keptFree(dialect, action);
  const share = Math.floor(limitOf(dialect, action) * minShare + 1e-9);
  const weight = Math.max(1, share > 0 ? Math.min(share, most) : most);
  return { records: weight * defaultPageSize, recordsPerWeight: defaultPageSize };
}

/** The list with the smallest finished share, which gets the next step. */
function nextList({ lists }: ScrubPass) {
  const share = ({ expected, records }: { expected: number; records: number }) => records / Math.max(1, expected);
  const [next] = lists.filter(({ finishedAt }) => finishedAt === null).sort((a, b) => share(a) - share(b));
  if (next === undefined) throw new Error('a pass that has finished has no further step');
  return next;
}

class Step implements PullWatch {
  readonly #context: PullContext;
  readonly #pass: ScrubPass;
  readonly #cursors: Cursors;
  readonly #list: RecordKind;
  readonly #after: number;
  readonly #pageRecords: number;
  #requests = 0;
  #weight = 0;

  constructor(
    context: PullContext,
    pass: ScrubPass,
    cursors: Cursors,
    minShare: number,
    pageSizes: Record<RecordKind, number>,
  ) {
    const { list, after } = nextList(pass);
    const { client, dialect } = context;
    this.#pass = pass;
    this.#cursors = cursors;
    this.#list = list;
    this.#after = after;
    this.#pageRecords = scrubPage(dialect, list, minShare, pageSizes[list]).records;
    this.#context = {
      ...context,
      watch: this,
      dialect: { ...dialect, max_page_size: Math.min(dialect.max_page_size, this.#pageRecords) },
      client: {
        list: async (...request) => {
          this.#requests += 1;
          const answer = await client.list(...request);
          this.#weight += answer.weight;
          return answer;
        },
      },
    };
  }

  /** Returns the number of requests that it took. */
  async run(): Promise<number> {
    const list = this.#list;
    const step = list === 'row' ? await this.#rowSets() : await this.#documents(list);
    const read: ScrubbedStep = { ...step, requests: this.#requests, weight: this.#weight };
    const { installation, transact } = this.#context;
    await transact((trx) => noteStep(trx, installation, this.#pass, list, read));
    return this.#requests;
  }

  /**
   * Reads all records between two ids of the mirror, or all after the last one. Records of the mirror that are not in
   * the answers are looked up by id.
   */
  async #documents(list: SourceKind): Promise<Omit<ScrubbedStep, 'requests' | 'weight'>> {
    const context = this.#context;
    const { db, installation } = context;
    const ignored = await ignoredFilters(db, installation, list);
    const upper = ['id__lt', 'id__lte'].find((filter) => !ignored.has(filter));
    const isBounded = upper !== undefined && !ignored.has('id__gt');
    let known = await this.#known(list, isBounded ? this.#pageRecords : null);
    const last = isBounded && known.length === this.#pageRecords ? (known.at(-1)?.id ?? null) : null;
    const filters =
      last === null || upper === undefined ? {} : { [upper]: String(upper === 'id__lt' ? last + 1 : last) };
    const received = new Set<number>();
    await pullList(context, list, filters, this.#after === 0 ? null : this.#after, {
      keepWalk: false,
      expectedRecords: known.length,
      onSaved: ({ ids }) => {
        for (const id of ids) received.add(id);
      },
    });
    const isLast = last === null || (await ignoredFilters(db, installation, list)).has(Object.keys(filters)[0] ?? '');
    if (isLast && last !== null) known = await this.#known(list, null);
    for (const { id, missing } of known) if (!received.has(id) && !missing) await this.#lookUp(list, id);
    const highest = known.reduce((a, { id }) => Math.max(a, id), this.#after);
    return { after: isLast ? highest : last, records: received.size, isLast };
  }

  /** The ids of the mirror after the position, and whether they are marked missing already. */
  #known(list: SourceKind, atMost: number | null): Promise<{ id: number; missing: boolean }[]> {
    const { db, installation } = this.#context;
    return rows(
      db,
      { id: integer, missing: bool },
      `select id, missing_at is not null as missing from mirror_record
       where installation = ? and kind = ? and id > ? and gone_at is null order by id limit ?`,
      [installation, list, this.#after, atMost],
    );
  }

  /** Requests a record that the answers did not contain by its id. If the source does not return it, it is missing. */
  async #lookUp(list: SourceKind, id: number): Promise<void> {
    const { installation, transact } = this.#context;
    const { found, read } = await pullById(this.#context, list, id);
    if (found) return;
    await transact(async (trx) => {
      const { gone } = await markNotShown(trx, installation, list, [{ id, answer: 'no_record' }], read);
      const finding: Finding = { document: id, what: 'vanished' };
      if (gone.length > 0) await this.#report(trx, list, [finding]);
      else {
        // The document gets a separate problem, because the books do not change.
        await noteFindings(trx, installation, this.#pass.pass, list, [finding]);
        await reportAllMissing(trx, installation, list);
      }
    });
  }

  /** Reads the whole row sets of the next final invoices, or of all if the server cannot filter by invoice. */
  async #rowSets(): Promise<Omit<ScrubbedStep, 'requests' | 'weight'>> {
    const context = this.#context;
    const { db, installation } = context;
    if (!(await mayUse(context, 'row', 'invoice__in'))) {
      const { seen, uncovered } = await scanStaleSets(context);
      await context.transact((trx) => invalidateRowSets(trx, installation, uncovered));
      return { after: this.#after, records: seen, isLast: true };
    }
    const next = await rows(
      db,
      { id: integer, rows: integer },
      `select i.id, (select count(*) from mirror_record r where r.installation = i.installation and r.kind = 'row'
         and r.parent_id = i.id and r.gone_at is null) as rows
       from mirror_record i where i.installation = ? and i.kind = 'invoice' and i.needs_rows and i.gone_at is null and i.id > ?
       order by i.id limit ?`,
      [installation, this.#after, invoicesPerRequest],
    );
    const invoices: number[] = [];
    let expected = 0;
    for (const { id, rows: count } of next) {
      if (invoices.length > 0 && expected + count > this.#pageRecords) break;
      invoices.push(id);
      expected += count;
    }
    const last = invoices.at(-1);
    if (last === undefined) return { after: this.#after, records: 0, isLast: true };
    const { seen } = await pullRowSets(context, invoices, { expectedRecords: expected });
    const isLast = next.length < invoicesPerRequest && invoices.length === next.length;
    return { after: last, records: seen, isLast };
  }

  async saved(trx: Connection, kind: RecordKind, { changedIds }: SaveResult): Promise<void> {
    if (changedIds.length === 0) return;
    const { installation } = this.#context;
    const changed = await rows(
      trx,
      { id: integer, version: integer, modified: nullable(instant), parent: nullable(integer) },
      `select id, version, modified, parent_id as parent from mirror_record where installation = ? and kind = ? and id = any(?)`,
      [installation, kind, changedIds],
    );
    const ofAskedInvoices = await this.#invoicesStillAsked(
      trx,
      changed.map(({ parent }) => parent),
    );
    const rowsAreAsked = !(await ignoredFilters(trx, installation, 'row')).has('modified__gte');
    const unseen = changed.filter(({ id, modified, parent }) => {
      if (kind === 'payment') return !this.#isPaymentStillAsked(id);
      if (kind !== 'row') return !this.#isStillAsked(kind, modified);
      if (parent !== null && ofAskedInvoices.has(parent)) return false;
      return !(rowsAreAsked && this.#isStillAsked('row', modified));
    });
    const findings = unseen.flatMap(({ id, version, parent }): Finding[] => {
      const document = kind === 'row' ? parent : id;
      return document === null ? [] : [{ document, what: version === 1 ? 'appeared' : 'changed' }];
    });
    await this.#report(trx, kind, findings);
  }

  async rowsGone(trx: Connection, invoices: number[]): Promise<void> {
    const asked = await this.#invoicesStillAsked(trx, invoices);
    const unseen = invoices.filter((invoice) => !asked.has(invoice));
    await this.#report(
      trx,
      'row',
      unseen.map((document) => ({ document, what: 'vanished' })),
    );
  }

  /**
   * Whether the next window will read a record that was modified at this time. Such a change does not count as unseen.
   */
  #isStillAsked(kind: 'invoice' | 'prepayment' | 'row', modified: Date | null): boolean {
    const from = changedFrom(this.#cursors[kind].value, null);
    if (modified === null || from === null) return false;
    return modified.getTime() >= from.getTime() - this.#context.overlapMs;
  }

  #isPaymentStillAsked(id: number): boolean {
    const after = this.#cursors.payment.value?.after ?? null;
    return after === null || id > after;
  }

  /** Ids of the invoices that the next window will read, or whose rows it will fetch again. */
  async #invoicesStillAsked(trx: Connection, invoices: (number | null)[]): Promise<Set<number>> {
    const ids = [...new Set(invoices.filter((id) => id !== null))];
    if (ids.length === 0) return new Set();
    const found = await rows(
      trx,
      { id: integer, modified: nullable(instant) },
      `select id, modified from mirror_record where installation = ? and kind = 'invoice' and id = any(?)`,
      [this.#context.installation, ids],
    );
    return new Set(found.filter(({ modified }) => this.#isStillAsked('invoice', modified)).map(({ id }) => id));
  }

  async #report(trx: Connection, list: RecordKind, findings: readonly Finding[]): Promise<void> {
    if (findings.length === 0) return;
    const { installation } = this.#context;
    await noteFindings(trx, installation, this.#pass.pass, list, findings);
    const kind = list === 'row' ? 'invoice' : list;
    const byDocument = Map.groupBy(findings, ({ document }) => document);
    await reportScrubbed(
      trx,
      installation,
      this.#pass.beganAt,
      [...byDocument].map(([id, found]) => ({ kind, id, message: messageOf(list, found) })),
    );
  }
}

function messageOf(list: RecordKind, found: readonly Finding[]): string {
  const texts = list === 'row' ? scrubTexts.row : scrubTexts.document;
  const kinds = new Set(found.map(({ what }) => what));
  return [...kinds].map((what) => texts[what]).join('; ');
}
