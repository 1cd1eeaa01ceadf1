// Tests the pure parts of the differential run: the worlds of seeds, and masking. `npm run differ -- HEAD --self-test`
// tests the rest.

import { describe, expect, it } from 'vitest';
import { comparable, type Run } from './masking.ts';
import { erps, worldOf } from './world.ts';

const run: Run = {
  began: Date.parse('2026-11-23T10:00:00Z'),
  ended: Date.parse('2026-11-23T10:05:00Z'),
  own: [['http://127.0.0.1:4711', '<practice>']],
};
const seeds = Array.from({ length: 200 }, (_, at) => at + 1);

describe('worlds', () => {
  it('are the same each time, and differ from seed to seed', () => {
    expect(seeds.map(worldOf)).toEqual(seeds.map(worldOf));
    expect(new Set(seeds.map((seed) => JSON.stringify({ ...worldOf(seed), seed: 0 }))).size).toBe(seeds.length);
  });

  it('of 200 seeds have every ERP, kills, faults, closes, decisions, corrections and reposts', () => {
    const worlds = seeds.map(worldOf);
    const steps = worlds.flatMap((world) => world.steps);
    const commands = new Set(steps.map(({ command }) => command.slice(0, 2).join(' ')));
    expect(new Set(worlds.map(({ erp }) => erp))).toEqual(new Set(erps));
    expect(new Set(steps.flatMap(({ strikes }) => strikes.map(({ what }) => what))).size).toBeGreaterThan(15);
    expect(steps.flatMap(({ strikes }) => strikes).filter(({ what }) => what === 'kill').length).toBeGreaterThan(20);
    const wanted = ['sync --json', 'ledger close', 'ledger reopen', 'late decide', 'repost --all', 'deliver undo'];
    expect([...commands]).toEqual(expect.arrayContaining(wanted));
  });

  it('end with a window that nothing disturbs, and are asked for books, problems, reconciliation and windows', () => {
    for (const { steps, questions } of seeds.map(worldOf)) {
      expect(steps.at(-1)).toMatchObject({ command: ['sync', '--json'], events: 0, happenings: [], strikes: [] });
      expect(questions.slice(0, 4).map(([word]) => word)).toEqual(['export', 'problems', 'reconcile', 'windows']);
    }
  });
});

describe('masking', () => {
  const json = (value: unknown) => JSON.parse(comparable(JSON.stringify(value), run).join('\n'));

  it('leaves books, codes and texts, dates and times of documents as they are', () => {
    const kept = {
      ...{ amount: '12.30', account: '3010', date: '2026-11-23', code: 'rows_disagree', id: '4711/invoice/10001' },
      message: 'Invoice 10001: the rows add up to 12, but the document has 13',
      ...{ modified: '2026-03-02T09:00:00Z', created: '2026-02-11T08:12:44Z', number: 7, nothing: null, none: [] },
    };
    expect(json(kept)).toEqual(kept);
  });

  it.each([
    ['2026-11-23T10:00:00.123Z', '<time of the run>'],
    ['at 2026-11-23 10:04:59 UTC', 'at <time of the run>'],
    ['2026-11-23T12:01:00.000+02:00', '<time of the run>'],
    ['?modified__gte=2026-03-02T08%3A59%3A13Z&x=1', '?modified__gte=<time of a window>&x=1'],
    ['2026-11-23T10:06:00.000Z', '2026-11-23T10:06:00.000Z'],
    ['http://127.0.0.1:4711/4711/api', '<practice>/4711/api'],
    [`head ${'0f'.repeat(32)}`, 'head <hash>'],
    ['0'.repeat(64), '0'.repeat(64)],
    ['Payment 3 · 4711/payment/3/1 [H26ZXA3DY6622ZWMZL3W]', 'Payment 3 · 4711/payment/3/1 [<key>]'],
    ['4711;4711/invoice/10002/1;HCAB2QQTZGX56NTZLJHM;1', '4711;4711/invoice/10002/1;<key>;1'],
    ['batch 4711-000012', 'batch 4711-<batch>'],
    ['4711/invoice/-36611107238035', '4711/invoice/<id>'],
    ['4711/invoice/10001/2', '4711/invoice/10001/2'],
  ])('%s', (text, masked) => expect(comparable(text, run)).toEqual([masked]));

  it('numbers windows in the order of their ids, and keeps what came of them', () => {
    const window = (id: number, outcome: string, coveredBy: number | null) => ({
      ...{ id, outcome, covered_by: coveredBy, workflow_id: `sync-window/${id}`, from: null, posted: id },
    });
    expect(json({ windows: [window(12, 'closed', null), window(7, 'failed', 12)] })).toEqual({
      windows: [
        { ...window(12, 'closed', null), id: '#2', workflow_id: '<workflow>' },
        { ...window(7, 'failed', 12), id: '#1', covered_by: '#2', workflow_id: '<workflow>' },
      ],
    });
  });

  it('numbers mappings and windows of the exported journal in the order in which they come', () => {
    const header = 'entry,seq,date,description,amount,mapping,recorded_at,window';
    const lines = [
      ['4711/invoice/1/1', '1', '2026-02-01', '"a, b"', '1.00', 'aaaa', '2026-11-23T10:01:00.000Z', '3'],
      ['4711/invoice/2/1', '2', '2026-02-01', 'c', '2.00', 'bbbb', '2026-11-23T10:01:00.000Z', '9'],
      ['4711/invoice/2/2', '3', '2026-02-01', 'c', '-2.00', 'aaaa', '2026-11-23T10:01:00.000Z', ''],
    ];
    const printed = [header, ...lines.map((cells) => cells.join(','))].join('\r\n');
    expect(comparable(printed, run)).toEqual([
      header,
      '4711/invoice/1/1,1,2026-02-01,"a, b",1.00,#1,<time of the run>,#1',
      '4711/invoice/2/1,2,2026-02-01,c,2.00,#2,<time of the run>,#2',
      '4711/invoice/2/2,3,2026-02-01,c,-2.00,#1,<time of the run>,',
    ]);
  });
});
