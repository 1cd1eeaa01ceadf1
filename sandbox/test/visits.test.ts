// Visits in the generated history and in live events: each invoice of a visit leads to its consultation, patient and
// items.
import { expect, test } from 'vitest';
import { Clinic } from '../src/clinic.ts';
import { generate } from '../src/generator.ts';
import { live } from '../src/live.ts';
import { defaultQuirks } from '../src/quirks.ts';
import type { Invoice } from '../src/records.ts';
import { Zone } from '../src/zone.ts';

const endMs = Date.parse('2026-05-20T12:00:00Z');
const clinicOf = (invoices: number): Clinic => {
  const zone = new Zone('Europe/Helsinki');
  const clinic = new Clinic({ seed: 3, zone, decimals: 2, quirks: defaultQuirks, clock: () => endMs });
  generate(clinic, { seed: 3, invoices, historyDays: 100, endMs });
  return clinic;
};

/** The differences between an invoice and its consultation. */
const misfits = (clinic: Clinic, invoice: Invoice): string[] => {
  const consultation = clinic.care.consultations.get(invoice.consultation ?? 0);
  if (!consultation) return ['no consultation'];
  const items = clinic.care.items.of(consultation.id);
  const rows = clinic.invoiceRows.of(invoice.id);
  const patients = consultation.patients.map((id) => clinic.registers.patients.get(id));
  const named = items.map((item) => clinic.registers.items.get(item.item)?.name);
  const claims: Record<string, boolean> = {
    status: consultation.status === 10,
    invoice: consultation.invoice === invoice.id,
    department: consultation.department === invoice.department,
    patient: patients.length > 0 && patients.every((patient) => patient !== undefined && patient.deceased === null),
    veterinarian: clinic.registers.users.get(consultation.supervising_veterinarian)?.is_veterinarian === true,
    times: consultation.started < (consultation.ended ?? 0) && consultation.created <= invoice.created,
    items: JSON.stringify(named) === JSON.stringify(rows.map((row) => row.name)),
    quantities: items.every((item, at) => item.quantity === rows[at]?.quantity),
    charged: items.every((item) => item.charge === null),
    usage: items.every((item) => (item.usage_type !== null) === [2, 3].includes(item.type_code)),
  };
  return Object.entries(claims).flatMap(([claim, holds]) => (holds ? [] : [`${claim} of invoice ${invoice.id}`]));
};

test('the history: each visit is a finalized consultation of a patient, whose items are the rows of its invoice', () => {
  const clinic = clinicOf(600);
  const visits = clinic.invoices.all().filter((invoice) => invoice.consultation !== null);
  expect(visits.length).toBeGreaterThan(400);
  expect(visits.flatMap((invoice) => misfits(clinic, invoice))).toEqual([]);
  expect(clinic.care.consultations.size).toBe(visits.length);
  expect(visits[0]?.consultation).toBe(90_000);
});

test('the live clinic: appointment, consultation, items, invoice; clients who came without an animal register one', () => {
  const clinic = clinicOf(60);
  const first = clinic.invoices.nextId;
  const consultations = clinic.care.consultations.size;
  live(clinic, 400);
  const visits = clinic.invoices.all().filter((invoice) => invoice.id >= first && invoice.consultation !== null);
  const changed = new Set(visits.filter((invoice) => clinic.invoiceRows.of(invoice.id).length === 0));
  expect(changed.size).toBe(0);
  expect(visits.length).toBeGreaterThan(100);
  expect(visits.flatMap((invoice) => misfits(clinic, invoice))).toEqual([]);
  expect(clinic.care.consultations.size - consultations).toBe(visits.length);
  expect(clinic.online.appointments.size).toBe(visits.length);
  for (const { patients, client } of clinic.online.appointments.all()) {
    expect(patients.map((id) => clinic.registers.patients.get(id)?.client)).toEqual([client]);
  }
});
