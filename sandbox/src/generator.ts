// Generates a clinic from a seed: its registers, and a history of events up to now.
import { departments, inventClient, revenueAccounts, vatGroups } from './catalogue.ts';
import type { Clinic } from './clinic.ts';
import { History, type PlanKind, planKinds } from './history.ts';
import { dec, fixed } from './money.ts';
import { openRegisters } from './opening.ts';
import { Rng } from './rng.ts';
import { openSupply } from './supply/opening.ts';

const dayMs = 86_400_000;
const clientCount = 400;

export interface HistoryOptions {
  seed: number;
  /** The number of final invoices, credit notes included. */
  invoices: number;
  historyDays: number;
  /** All records are dated before this instant. */
  endMs: number;
}

/** Fills an empty clinic. The same options give the same clinic. */
export const generate = (clinic: Clinic, options: HistoryOptions): void => {
  const realClock = clinic.clock;
  const rng = new Rng(options.seed, 'history');
  const startMs = options.endMs - options.historyDays * dayMs;
  clinic.clock = () => startMs;
  openClinic(clinic, rng);
  openRegisters(clinic, options.seed, clinic.zone.date(options.endMs));
  openSupply(clinic, options.seed);
  const history = new History(clinic, rng, startMs, options.endMs);
  for (const kind of drawPlans(rng, options.invoices)) history.plan(kind);
  history.play();
  clinic.clock = () => options.endMs - 1000;
  closePeriods(clinic);
  // A separate transaction adds the reports, so that the next transaction sends no webhooks for them.
  clinic.commit(() => reportDays(clinic), 'request');
  clinic.clock = realClock;
};

const openClinic = (clinic: Clinic, rng: Rng): void => {
  clinic.vatGroups.push(...Object.values(vatGroups));
  for (const department of departments()) clinic.departments.set(department.id, department);
  for (let serial = 1; serial <= clientCount; serial++) clinic.insert(clinic.clients, inventClient(rng, serial));
  for (const [number, description] of Object.entries(revenueAccounts)) {
    clinic.insert(clinic.accountNumbers, { number, description, department: null, archived: number === '3130' });
  }
  for (const id of clinic.departments.keys()) {
    clinic.insert(clinic.accountNumbers, {
      number: '3000',
      description: `Consultations ${id}`,
      department: id,
      archived: false,
    });
  }
  for (const name of ['Turva Animal Insurance', 'Suoja Mutual']) {
    const address = { street_address: 'Siltakatu 1', zip_code: '01999', city: 'Kuusniemi', country: 'FI' };
    clinic.insert(clinic.alternativePayers, {
      name,
      organization_name: `${name} Oy`,
      vat_number: '',
      ...address,
      archived: false,
    });
  }
  clinic.insert(clinic.alternativePricings, { name: 'Breeders', percentage: '-10.00', archived: false });
  clinic.insert(clinic.alternativePricings, { name: 'Out of hours', percentage: '40.00', archived: false });
};

/**
 * Draws the kinds of stories: each kind once, then kinds at random by weight until the number of invoices is reached.
 */
const drawPlans = (rng: Rng, invoices: number): PlanKind[] => {
  const kinds = Object.keys(planKinds) as PlanKind[];
  const weights = kinds.map((kind) => [kind, planKinds[kind].weight] as const);
  const plans: PlanKind[] = [];
  let finals = 0;
  const take = (kind: PlanKind): void => {
    const story = finals + planKinds[kind].finals > invoices ? 'visit' : kind;
    finals += planKinds[story].finals;
    plans.push(story);
  };
  for (const kind of kinds) if (finals < invoices) take(kind);
  while (finals < invoices) take(rng.weighted(weights));
  return plans;
};

/** Gives one department a manual period lock and another one automatic locking. The third has no lock. */
const closePeriods = (clinic: Clinic): void => {
  const [, second, third] = [...clinic.departments.values()];
  const [year, month] = clinic.today().split('-').map(Number) as [number, number];
  if (second) second.financial_period_lock_date = new Date(Date.UTC(year, month - 3, 1)).toISOString().slice(0, 10);
  if (third) third.automatic_financial_period_lock_enabled = true;
};

/** Makes the end-of-day accounting reports of all past days that have none yet. */
export const reportDays = (clinic: Clinic): void => {
  const after = clinic.accountingReports.all().at(-1)?.date ?? '';
  const zero = { invoices: 0, total: dec(0), total_vat: dec(0), total_with_vat: dec(0) };
  const days = new Map<string, typeof zero>();
  for (const invoice of clinic.invoices.all()) {
    const { status, invoice_date } = invoice;
    if (status !== 3 || invoice_date >= clinic.today() || invoice_date <= after) continue;
    const key = `${invoice_date}/${invoice.department}`;
    const day = days.get(key) ?? zero;
    days.set(key, {
      invoices: day.invoices + 1,
      total: day.total.plus(invoice.total),
      total_vat: day.total_vat.plus(invoice.total_vat),
      total_with_vat: day.total_with_vat.plus(invoice.total_with_vat),
    });
  }
  for (const [key, day] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [date = '', department] = key.split('/');
    clinic.insert(clinic.accountingReports, {
      department: Number(department),
      date,
      invoices: day.invoices,
      total: fixed(day.total, clinic.decimals),
      total_vat: fixed(day.total_vat, clinic.decimals),
      total_with_vat: fixed(day.total_with_vat, clinic.decimals),
    });
  }
};
