// Previews of postings and corrections, compared with what is posted afterwards.
import { readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
import { previewPosting } from '../../src/bookkeeping/preview.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { loadEntries } from '../../src/ledger/journal/read-entries.ts';
import type { PracticeClient } from '../../src/practice/client.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

export const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8');
export const without = (role: string) => demo.replace(new RegExp(`^ *${role}:.*\n`, 'm'), '');
export const otherCard = demo.replace('card_clearing: "1920"', 'card_clearing: "1925"');
export const redate = (mapping: string) => mapping.replace('locked_period: hold', 'locked_period: redate');
export const followed = (mapping: string) => mapping.replace('follow_source_lock: false', 'follow_source_lock: true');

export async function all<One>(batches: AsyncIterable<One[]>): Promise<One[]> {
  const found: One[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

/** A practice API of which only lock dates are requested. */
export const practiceWith = (lock: string | null) =>
  ({ departmentSettings: async () => ({ lockDate: lock }) }) as unknown as PracticeClient;
export const practice = practiceWith(null);

/** An entry's whole content as plain data, with amounts as texts. */
export function plain(id: string, entry: DraftEntry) {
  const { document, date, documentDate, description, reason, reverses, original, inputHash } = entry;
  const lines = entry.lines.map((line) => ({
    ...line,
    amount: line.amount.toFixed(),
    vat: line.vat && { ...line.vat, rate: line.vat.rate?.toFixed() ?? null, base: line.vat.base?.toFixed() ?? null },
  }));
  return { id, document, date, documentDate, description, reason, reverses, original, inputHash, lines };
}

/** A database for the clinics of this file, which previews and windows use. */
export function usePreviews() {
  const { db, owner, url: databaseUrl } = useDatabase();
  let nextId = 5000;
  const clinics: MirroredClinic[] = [];

  afterAll(async () => {
    for (const clinic of clinics) clinic.remove();
  });

  async function clinicOf(options: { seed: number; invoices: number; mapping?: string }): Promise<MirroredClinic> {
    const clinic = new MirroredClinic(db, databaseUrl, { id: nextId++, ...options });
    clinics.push(clinic);
    await clinic.configure(options.mapping ?? demo);
    return clinic;
  }

  async function lastSeq(clinic: MirroredClinic): Promise<number> {
    const [row] = await query<{ n: number }>(
      db,
      'select coalesce(max(seq), 0) as n from entry where installation = ?',
      [clinic.id],
    );
    return row!.n;
  }

  /** Entries with a higher `seq`, in order. */
  async function entriesAfter(clinic: MirroredClinic, seq: number) {
    const ids = await query<{ id: string }>(
      db,
      'select id from entry where installation = ? and seq > ? order by seq',
      [clinic.id, seq],
    );
    const entries = await loadEntries(
      db,
      ids.map(({ id }) => id),
    );
    return entries.map((entry) => plain(entry.id, entry));
  }

  /** Everything that posting could have written, as one value. */
  async function fingerprint(clinic: MirroredClinic): Promise<unknown> {
    const tables = [
      'document',
      'document_report',
      'installation_state',
      'department_lock',
      'entry',
      'write_back',
      'lease',
      'budget_slot',
    ];
    const prints = [];
    for (const name of tables) {
      const [row] = await query<{ print: string }>(
        db,
        `select md5(coalesce(string_agg(t::text, ';' order by t::text), '')) as print from ${name} t where installation = ?`,
        [clinic.id],
      );
      prints.push([name, row!.print]);
    }
    return prints;
  }

  async function documentsOf(clinic: MirroredClinic) {
    const rows = await query<{
      kind: string;
      id: number;
      state: string;
      problem_code: string | null;
      entry_id: string;
    }>(db, 'select kind, id, state, problem_code, entry_id from document where installation = ?', [clinic.id]);
    return new Map(rows.map((row) => [`${row.kind}/${row.id}`, row]));
  }

  /** Previews, posts, and compares both. */
  async function previewThenPost(clinic: MirroredClinic, lock: string | null = null): Promise<number> {
    const before = await fingerprint(clinic);
    const seq = await lastSeq(clinic);
    const previewed = await all(previewPosting(db, clinic.installation, practiceWith(lock)));
    expect(await fingerprint(clinic)).toEqual(before);
    await clinic.post(async () => lock);
    const predicted = previewed.flatMap(({ decision, entryIds }) =>
      decision.entries.map((entry, index) => plain(entryIds[index]!, entry)),
    );
    expect(await entriesAfter(clinic, seq)).toEqual(predicted);
    const documents = await documentsOf(clinic);
    for (const { document, decision } of previewed) {
      expect(documents.get(`${document.kind}/${document.id}`)).toMatchObject({
        state: decision.state,
        problem_code: decision.problem?.code ?? null,
      });
    }
    return predicted.length;
  }

  /** Possible events between two windows. */
  const happenings = {
    live: async (clinic: MirroredClinic) => clinic.live(25),
    accountMissing: (clinic: MirroredClinic) => clinic.configure(without('mobile_clearing')),
    everythingMapped: (clinic: MirroredClinic) => clinic.configure(demo),
    redated: (clinic: MirroredClinic) => clinic.configure(redate(demo)),
    sourceLockFollowed: (clinic: MirroredClinic) => clinic.configure(followed(demo)),
    cutOver: (clinic: MirroredClinic) => clinic.configure(demo, { start_date: '2026-02-10' }),
    closed: async (clinic: MirroredClinic) => {
      await db.raw(`insert into ledger_close (installation, through) values (?, '2026-02-20')`, [clinic.id]);
    },
    voidedAndChanged: async (clinic: MirroredClinic) => {
      clinic.live(1);
      const posted = clinic.clinic.invoices.all().filter(({ status }) => status === 3);
      const [voided, changed, edited] = [posted.at(5)!, posted.at(20)!, posted.at(40)!];
      clinic.clinic.voidInvoice(voided.id);
      clinic.clinic.changePayer(changed.id, clinic.clinic.clients.all().at(7)!.id);
      clinic.clinic.updateInvoice(edited.id, { invoice_date: '2026-03-01' });
    },
    gone: async (clinic: MirroredClinic) => {
      clinic.clinic.deleteRecord('unallocatedpayment', clinic.clinic.prepayments.all().at(-1)!.id);
      clinic.clinic.deleteRecord('invoicepayment', clinic.clinic.invoicePayments.all().at(-1)!.id);
    },
  };
  return { db, owner, clinicOf, lastSeq, entriesAfter, fingerprint, documentsOf, previewThenPost, happenings };
}
