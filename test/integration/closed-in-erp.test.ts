import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { haveConditionsChanged } from '../../src/bookkeeping/conditions.ts';
import { companyKeyOf } from '../../src/erp/company.ts';
import { storePeriods } from '../../src/erp/periods.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping, fromEnvironment } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url } = useDatabase();
let clinic: MirroredClinic;
beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id: 899, seed: 3, invoices: 40 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'), {
    erp: `{kind: tryton, url: "http://127.0.0.1:9", database: books, user: api, password: ${fromEnvironment('PRACTICE_TOKEN')}, from: 2026-02-01}`,
  });
  await db.raw(`insert into erp_company (company, kind, name) values (?, 'tryton', 'Clinic')`, [company()]);
  await clinic.pull();
});
afterAll(() => clinic.remove());

const company = () => companyKeyOf(clinic.installation.erp)!;

it('a period that is closed in the ERP gets no entry, and gets them once it is opened', async () => {
  const closed = (isOpen: boolean) =>
    storePeriods(db, company(), {
      periods: [
        { from: '2026-01-01', through: '2026-01-31', isOpen: false, kind: 'general' },
        { from: '2026-02-01', through: '2026-02-28', isOpen, kind: 'general' },
        { from: '2026-03-01', through: '2026-03-31', isOpen: true, kind: 'general' },
      ],
      lockedThrough: [],
    });
  const inFebruary = `entry_date between '2026-02-01' and '2026-02-28'`;
  const entries = async (where: string) =>
    (await query<{ n: number }>(db, `select count(*)::int as n from entry where ${where}`))[0]!.n;
  const held = async () =>
    (await query<{ n: number }>(db, `select count(*)::int as n from document where problem_code = 'period_locked'`))[0]!
      .n;

  await closed(false);
  await clinic.post();
  expect(await entries(inFebruary)).toBe(0);
  expect(await held()).toBeGreaterThan(0);
  expect(await entries(`entry_date >= '2026-03-01'`)).toBeGreaterThan(0);
  // Entries before the first delivered day do not concern the ERP.
  expect(await entries(`entry_date <= '2026-01-31'`)).toBeGreaterThan(0);
  expect(await haveConditionsChanged(db, clinic.installation)).toBe(false);

  await closed(true);
  expect(await haveConditionsChanged(db, clinic.installation)).toBe(true);
  await clinic.post();
  expect(await held()).toBe(0);
  expect(await entries(inFebruary)).toBeGreaterThan(0);
});
