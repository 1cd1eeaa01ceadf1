// Compares generated clinics with recorded ones, because tests of documents, reports and books depend on them.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Clinic } from '../src/clinic.ts';
import { generate } from '../src/generator.ts';
import { live } from '../src/live.ts';
import { defaultQuirks, type Quirks } from '../src/quirks.ts';
import type { RecordBase } from '../src/records.ts';
import type { Table } from '../src/table.ts';
import { Zone } from '../src/zone.ts';

const endMs = Date.parse('2026-05-20T12:00:00Z');
const clinicOf = (seed: number, decimals: number, quirks: Partial<Quirks>): Clinic => {
  const zone = new Zone('Europe/Helsinki');
  const clinic = new Clinic({ seed, zone, decimals, quirks: { ...defaultQuirks, ...quirks }, clock: () => endMs });
  generate(clinic, { seed, invoices: 700, historyDays: 200, endMs });
  return clinic;
};

const hashOf = (records: readonly (readonly unknown[])[]): string =>
  createHash('sha256').update(JSON.stringify(records)).digest('hex').slice(0, 16);

const documentsOf = ({ invoices, invoiceRows, invoicePayments, prepayments }: Clinic) =>
  [invoices, invoiceRows, invoicePayments, prepayments] as const;

const cases: [number, number, Partial<Quirks>, string, string, number][] = [
  [1, 2, {}, 'ccb9826cba9eaf1b', '9e122eccb282d33c', 857766935],
  [4, 0, {}, '27c121eebfd9500b', '731c6e641ace9fc7', 504604516],
  [9, 2, { lateCommitShare: 0.3 }, '8bea8280de21e680', 'd5b5352daabae604', 1977915494],
];

test.each(cases)(
  'seed %i with %i decimals and %o gives the documents that it always gave, and lives on as it always did',
  (seed, decimals, quirks, history, life, state) => {
    const clinic = clinicOf(seed, decimals, quirks);
    expect(hashOf(documentsOf(clinic).map((table) => table.all()))).toBe(history);
    live(clinic, 300);
    // The recorded invoices of live events have no consultation.
    const [invoices, ...others] = documentsOf(clinic);
    const withoutConsultation = invoices.all().map(({ consultation: _ignored, ...invoice }) => invoice);
    expect(hashOf([withoutConsultation, ...others.map((table) => table.all())])).toBe(life);
    expect(clinic.liveRng.state).toBe(state);
  },
);

test('with late commits, the same records become visible late', () => {
  const { invoices, invoiceRows, invoicePayments, prepayments } = clinicOf(9, 2, { lateCommitShare: 0.3 });
  const late = <T extends RecordBase>(table: Table<T>): number[] =>
    table
      .all()
      .filter((record) => table.visible(record, record.modified) !== record)
      .map(({ id }) => id);
  expect(hashOf([late(invoices), late(invoiceRows), late(invoicePayments), late(prepayments)])).toBe(
    '0b39c295f186dc6f',
  );
});
