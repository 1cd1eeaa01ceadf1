import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { scrubCostPerDay } from '../../src/queries/scrub.ts';
import { noteIgnored } from '../../src/sync/capabilities/filters.ts';
import type { PullContext } from '../../src/sync/context.ts';
import { newestPass, type ScrubPass } from '../../src/sync/scrub/passes.ts';
import { scrubSlice } from '../../src/sync/scrub/scrub.ts';
import { dueInMs, forecastOf } from '../../src/sync/scrub/scrub-pace.ts';
import { recordKinds } from '../../src/terms.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { atOnce, scrubContext, scrubPass } from '../support/scrub.ts';

describe('a pass', () => {
  let clinic: TestClinic;
  beforeAll(async () => {
    // Pages of the default size give many steps.
    clinic = await startTestClinic({
      seed: 23,
      invoices: 260,
      quirks: { maxPageSize: 50 },
      settings: { practice_api: '{max_page_size: 50}' },
    });
    expect((await clinic.sync()).error ?? null).toBeNull();
  });
  afterAll(() => clinic.stop());

  const newest = async () => {
    const pass = await newestPass(clinic.app.db, clinic.sandbox.installation);
    if (pass === null) throw new Error('there is no pass');
    return pass;
  };
  const sumOf = ({ lists }: ScrubPass, key: 'records' | 'requests' | 'weight') =>
    lists.reduce((sum, list) => sum + list[key], 0);

  test('reads every record once, and takes what doctor predicts', async () => {
    await scrubPass(clinic);
    const pass = await newest();
    expect(pass.finishedAt).not.toBeNull();
    const { invoices, invoiceRows, invoicePayments, prepayments } = clinic.sandbox.clinic;
    const finalRows = invoiceRows.all().filter(({ invoice }) => invoices.get(invoice)?.status === 3).length;
    const read = Object.fromEntries(pass.lists.map(({ list, records }) => [list, records]));
    const documents = { invoice: invoices.size, payment: invoicePayments.size, prepayment: prepayments.size };
    expect(read).toEqual({ ...documents, row: finalRows });

    const [installation] = (await loadConfig(clinic.config, clinic.env)).installations;
    const counts = { ...documents, row: invoiceRows.size };
    const predicted = scrubCostPerDay(counts, installation!.dialect, 1, 0, {
      invoice: 50,
      row: 50,
      payment: 50,
      prepayment: 50,
    });
    expect(sumOf(pass, 'requests')).toBeLessThanOrEqual(predicted.requests * 1.1);
    expect(sumOf(pass, 'requests')).toBeGreaterThan(predicted.requests * 0.7);
    expect(sumOf(pass, 'weight')).toBeLessThanOrEqual(predicted.weight * 1.1);
    expect(sumOf(pass, 'weight')).toBeGreaterThan(predicted.weight * 0.7);
    // Reading alone marks no document.
    expect(await clinic.rows('select from document where dirty')).toEqual([]);
    expect(await clinic.rows('select from scrub_finding')).toEqual([]);
  });

  test('continues from its position, however often it is killed', async () => {
    const whole = sumOf(await newest(), 'requests');
    const client = clinic.app.practice(clinic.sandbox.installation).forWindow();
    let requests = 0;
    const mortal: PullContext['client'] = {
      list: async (...request) => {
        requests += 1;
        if (requests % 3 === 0) throw new Error('killed');
        return client.list(...request);
      },
    };
    const context = await scrubContext(clinic, mortal);
    const before = (await newest()).pass;
    let kills = 0;
    for (let slices = 0; slices < 200; slices++) {
      const { state } = await scrubSlice(context, { ...atOnce, requestsAtMost: 4 }).catch(() => {
        kills += 1;
        return { state: 'reading' };
      });
      if (state === 'finished') break;
    }
    const pass = await newest();
    expect(pass).toMatchObject({ pass: before + 1, finishedAt: expect.any(Date) });
    expect(kills).toBeGreaterThan(3);
    // A step is read again only if it was killed.
    expect(requests).toBeLessThanOrEqual(whole + 2 * kills + 2);
  });

  test('leaves a set that its scan of all rows does not cover to the next window', async () => {
    const { app, sandbox } = clinic;
    await app.db.transaction((trx) => noteIgnored(trx, sandbox.installation, 'row', 'invoice__in'));
    // One row says that it changed after the scan, so its set may have been read partly before and partly after the
    // change.
    const [row] = await clinic.rows<{ parent_id: number }>(
      `update mirror_record set modified = clock_timestamp() + interval '1 day' where kind = 'row' and id = (
         select min(r.id) from mirror_record r join mirror_record i on i.kind = 'invoice' and i.id = r.parent_id
         where r.kind = 'row' and i.needs_rows) returning parent_id`,
    );
    const stale = `select id from mirror_record where kind = 'invoice' and needs_rows and rows_source_time is null`;
    expect(await clinic.rows(stale)).toEqual([]);
    await scrubPass(clinic);
    expect(await clinic.rows(stale)).toEqual([{ id: row!.parent_id }]);
  });

  test('leaves a server alone whose first load is not done', async () => {
    await clinic.rows(`delete from sync_cursor where stream = 'row'`);
    expect(await scrubSlice(await scrubContext(clinic), atOnce)).toMatchObject({ state: 'first load' });
  });
});

describe('its pace', () => {
  const dayMs = 86_400_000;
  const began = new Date('2026-01-01T00:00:00Z');
  const dayAt = (days: number) => new Date(began.getTime() + days * dayMs);
  const passAt = (records: number, finishedAt: Date | null = null): ScrubPass => ({
    pass: 1,
    beganAt: began,
    finishedAt,
    lists: recordKinds.map((list) => ({
      ...{ list, after: 0, expected: 100, records, differing: 0, missing: 0, requests: 0, weight: 0 },
      ...{ readAt: null, finishedAt },
    })),
  });

  test('is even, and aims at nine tenths of its days', () => {
    expect(dueInMs(passAt(0), 30, began)).toBe(0);
    expect(dueInMs(passAt(50), 30, began)).toBe(13.5 * dayMs);
    expect(dueInMs(passAt(50), 30, dayAt(13.5))).toBe(0);
    expect(dueInMs(passAt(100), 30, began)).toBe(27 * dayMs);
  });

  test('reports when the pass will end, and that it will be late', () => {
    expect(forecastOf(passAt(50), 30, dayAt(13.5))).toEqual({ endsAt: dayAt(27), isLate: false });
    expect(forecastOf(passAt(10), 30, dayAt(6))).toEqual({ endsAt: dayAt(60), isLate: true });
    expect(forecastOf(passAt(0), 30, dayAt(1))).toEqual({ endsAt: null, isLate: false });
    expect(forecastOf(passAt(0), 30, dayAt(3))).toEqual({ endsAt: null, isLate: true });
    expect(forecastOf(passAt(100, dayAt(29)), 30, dayAt(29))).toEqual({ endsAt: dayAt(29), isLate: false });
  });
});
