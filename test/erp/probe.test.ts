import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { MeasuredFacts } from '../../src/config/measured.ts';
import { readMeasured } from '../../src/config/read-measured.ts';
import { reliedOn } from '../../src/erp/cautious.ts';
import { withMeasured } from '../../src/erp/measured.ts';
import { type ProbeReport, probeErp } from '../../src/erp/probe/probe.ts';
import { saysSandbox } from '../../src/erp/probe/sandbox.ts';
import { provenances } from '../../src/erp/targets/provenance.ts';
import { type Behaviour, played } from './fake/assumptions.ts';
import { type FakeRecord, records } from './fake/records.ts';
import { FakeServer } from './fake/server.ts';
import { calm, FakeTarget, type RequestInfo } from './fake/target.ts';
import { SimulatedTime } from './fake/time.ts';

/** A probe of a played ERP. `stopAt`: the step at which the user presses Ctrl-C. */
async function probed(name: string, behaviour: Partial<Behaviour>, { stopAt = '', workMs = 200, locked = '' } = {}) {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const { record } = played({ record: records[name] as FakeRecord, measured: new Set() }, behaviour);
  const server = new FakeServer({ record, time, random: () => 1 });
  if (locked !== '') server.lock(locked);
  const network = ({ kind }: RequestInfo) => ({ ...calm, workMs: kind === 'create' ? workMs : calm.workMs });
  const target = new FakeTarget({ server, network, timeoutMs: 900_000 });
  const stop = new AbortController();
  const steps: string[] = [];
  const work = probeErp({
    ...{ target, accounts: ['1700', '3000'], journal: 'SALES', day: '2026-03-05', clock: time.clock() },
    signal: stop.signal,
    onStep: (step) => {
      steps.push(step);
      if (step === stopAt) time.at(time.nowMs + 300, () => stop.abort(new Error('Ctrl-C')));
    },
  });
  const ended = work.then(
    (report): ProbeReport | Error => report,
    (error: unknown) => error as Error,
  );
  const report = await time.run(ended);
  const inBooks = server
    .held()
    .filter(({ state }) => state === (target.capabilities.write.steps === 'one' ? '' : 'draft'));
  return { report, steps, server, drafts: inBooks, misdeeds: server.misdeeds };
}

describe('a probe measures how the ERP behaves', () => {
  test.each<[name: string, behaviour: Partial<Behaviour>, expected: MeasuredFacts]>([
    [
      'tryton',
      { lagSeconds: 0 },
      { 'key.lookup_lag_seconds': 0, 'key.unique': 'none', 'key.duplicate_reply': 'doubled' },
    ],
    ['tryton', { duplicate: 'refused' }, { 'key.unique': 'enforced', 'key.duplicate_reply': 'refused' }],
    ['tryton', { duplicate: 'replayed' }, { 'key.unique': 'enforced', 'key.duplicate_reply': 'replayed' }],
    ['tryton', { duplicate: 'overwrites' }, { 'key.unique': 'enforced', 'key.duplicate_reply': 'overwrites' }],
    ['netvisor', { repeat: 'refused' }, { 'request_id.on_repeat': 'refused' }],
    ['netvisor', { repeat: 'replayed' }, { 'request_id.on_repeat': 'replayed' }],
    ['netvisor', { repeat: 'ignored' }, { 'request_id.on_repeat': 'ignored' }],
    ['tryton', { imbalance: 'refused' }, { imbalance: 'refused' }],
    ['tryton', { imbalance: 'within_tolerance' }, { imbalance: 'within_tolerance' }],
  ])('%s with %j', async (name, behaviour, expected) => {
    const { report, drafts } = await probed(name, behaviour);
    expect(report).toMatchObject({ facts: expected });
    expect(drafts).toEqual([]);
  });

  test.each(['refused', 'redated', 'warned'] as const)('an entry in a closed period is %s', async (locked) => {
    const { report } = await probed('tryton', { locked }, { locked: '2026-02-28' });
    expect(report).toMatchObject({ facts: { 'periods.on_locked': locked } });
  });

  test('without a closed period, nothing is known about one', async () => {
    const { report } = await probed('tryton', {});
    expect((report as ProbeReport).facts['periods.on_locked']).toBeUndefined();
  });

  test('a look-up that shows entries late has twice the lag that was seen', async () => {
    const { report } = await probed('tryton', { lagSeconds: 5 });
    const { 'key.lookup_lag_seconds': lag } = (report as ProbeReport).facts;
    expect(lag).toBeGreaterThanOrEqual(10);
    expect(lag).toBeLessThanOrEqual(14);
  });

  test('a server that continues after a cut has ten times what was seen', async () => {
    const { report, drafts } = await probed('tryton', { worksSeconds: 600 }, { workMs: 20_000 });
    const { 'doubt.server_may_work_seconds': work } = (report as ProbeReport).facts;
    expect(work).toBeGreaterThanOrEqual(150);
    expect(work).toBeLessThanOrEqual(200);
    expect(drafts).toEqual([]);
  });

  test('one that does not continue has a minute', async () => {
    const { report } = await probed('tryton', {});
    expect(report).toMatchObject({ facts: { 'doubt.server_may_work_seconds': 60 } });
  });
});

test.each(['lag', 'duplicate', 'cut', 'locked'])('Ctrl-C during the step %s leaves no draft', async (stopAt) => {
  const { report, drafts, steps } = await probed(
    'tryton',
    { worksSeconds: 30 },
    { stopAt, workMs: 4_000, locked: '2026-02-28' },
  );
  expect(report).toMatchObject({ message: 'Ctrl-C' });
  expect(steps.at(-1)).toBe(stopAt);
  expect(drafts).toEqual([]);
});

test('what cannot be withdrawn is named', async () => {
  const { report, server } = await probed('fortnox', {});
  const { left } = report as ProbeReport;
  expect(left).toHaveLength(server.held().length);
  expect(server.held().every(({ unitId }) => unitId.startsWith('0/probe/'))).toBe(true);
});

test.each<[names: (string | null)[], is: boolean]>([
  [['Kuusikko Veterinary Group', 'production', 'erp.example.com'], false],
  [['Demo Company (UK)'], true],
  [['clinic_test', null], true],
  [['https://pts-procountor.pubdev.cloud/api'], true],
  [['Latest news', 'contest', 'attestation'], false],
])('%j says that the company is for trials: %s', (names, is) => {
  expect(saysSandbox(names)).toBe(is);
});

describe('the file that the configuration names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'measured-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const config = join(folder, 'vetledger.yaml');
  const good = {
    erp: 'xero',
    url: 'u',
    company: '1',
    measured_at: '2026-03-05T10:00:00.000Z',
    facts: { imbalance: 'refused' },
  };

  test.each<[name: string, content: object | null, isRead: boolean]>([
    ['is read', good, true],
    ['must exist', null, false],
    ['must be of this ERP', { ...good, erp: 'odoo' }, false],
    ['has no other facts', { ...good, facts: { 'key.lookup': 'exact' } }, false],
  ])('%s', (_, content, isRead) => {
    rmSync(join(folder, 'measured.json'), { force: true });
    if (content !== null) writeFileSync(join(folder, 'measured.json'), JSON.stringify(content));
    const read = () => readMeasured(config, 'installations[0].erp', { kind: 'xero', measured: 'measured.json' });
    if (isRead) expect(read()).toEqual(content);
    else expect(read).toThrow('erp probe');
  });
});

test('what was measured is relied on, with its origin', () => {
  const facts: MeasuredFacts = {
    'key.lookup_lag_seconds': 3,
    'doubt.server_may_work_seconds': 90,
    imbalance: 'refused',
  };
  const file = {
    erp: 'procountor',
    url: 'https://pts.example',
    company: '77',
    measured_at: '2026-03-05T10:00:00Z',
    facts,
  };
  const known = withMeasured(provenances.procountor, file);
  expect(known.facts['key.lookup_lag_seconds']).toEqual({
    from: 'measured',
    where: 'vetledger erp probe, 2026-03-05, company 77',
  });
  const { key, doubt, periods } = reliedOn(known);
  expect([key.lookup_lag_seconds, doubt.server_may_work_seconds, periods.on_locked]).toEqual([3, 90, 'redated']);
});
