import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { cautious, safetyFacts } from '../../../src/erp/cautious.ts';
import { strategyOf } from '../../../src/erp/strategy.ts';
import { openTarget } from '../../../src/erp/targets/open.ts';
import { capabilitiesWith } from '../capabilities.ts';
import { FakeProcountor } from '../procountor/fake.ts';
import { assumedErps, behavioursOf, pairs } from './assumptions.ts';
import { SimulatedTime } from './time.ts';

describe('combinations', () => {
  test.each<[parameters: Record<string, unknown[]>, rows: number]>([
    [{}, 0],
    [{ a: [1, 2], b: [1, 2] }, 4],
    [{ a: [1, 2], b: [1, 2], c: [1, 2], d: [1, 2] }, 8],
    [{ a: [1, 2, 3], b: [1, 2, 3], c: [1, 2, 3, 4], d: [1, 2] }, 18],
  ])('of %j have every pair of values, in at most %i rows', (parameters, most) => {
    const rows = pairs(parameters);
    for (const [one, ofOne] of Object.entries(parameters))
      for (const [other, ofOther] of Object.entries(parameters))
        for (const value of ofOne)
          for (const otherValue of ofOther)
            if (one !== other) expect(rows.some((row) => row[one] === value && row[other] === otherValue)).toBe(true);
    expect(rows.length).toBeLessThanOrEqual(most);
  });

  test('leave out what is measured', () => {
    const named = (name: string) => [...new Set(behavioursOf(assumedErps[name] as never).flatMap(Object.keys))].sort();
    expect(named('tryton')).toEqual(['imbalance', 'unknownValue']);
    expect(named('procountor')).toContain('locked');
    expect(named('procountor')).not.toContain('repeat');
    expect(named('like netvisor')).toContain('repeat');
  });
});

describe('a field that was not measured', () => {
  const refusing: NonNullable<Capabilities['request_id']> = {
    ...{ header: 'Id', max: 36, on_repeat: 'refused', remembered_seconds: 'unknown', survives: 'all' },
  };
  const believed = capabilitiesWith({
    key: { unique: 'enforced', duplicate_reply: 'refused', lookup: 'none' },
    request_id: refusing,
  });

  test.each([
    ['is believed if it was measured', () => true, believed],
    [
      'has its least favourable value',
      () => false,
      {
        ...believed,
        key: { ...believed.key, unique: 'none', duplicate_reply: 'doubled', lookup_lag_seconds: 60 },
        request_id: { ...refusing, on_repeat: 'ignored' },
        doubt: { server_may_work_seconds: 600 },
        periods: { readable: true, on_locked: 'redated' },
      },
    ],
    [
      'does not change others',
      (fact: string) => fact !== 'key.lookup_lag_seconds',
      { ...believed, key: { ...believed.key, lookup_lag_seconds: 60 } },
    ],
  ])('%s', (_, isMeasured, expected) => {
    expect(cautious(believed, isMeasured)).toEqual(expected);
  });

  test('is not relied on by a target that is opened', () => {
    const { config } = new FakeProcountor({ now: () => 0 });
    const ports = { clock: new SimulatedTime(0).clock(), log: pino({ level: 'silent' }), logins: null as never };
    const target = openTarget({ erp: config } as InstallationConfig, ports);
    expect(target.capabilities).toMatchObject({
      key: { lookup: 'scan_since', lookup_lag_seconds: 60 },
      doubt: { server_may_work_seconds: 600 },
    });
  });

  test.each(safetyFacts)('%s never makes a delivery less careful, and forbids none', (fact) => {
    const before = strategyOf(believed);
    const after = strategyOf(cautious(believed, (one) => one !== fact));
    expect(after.lookUpAfterMs).toBeGreaterThanOrEqual(before.lookUpAfterMs);
    expect(after.unsafe).toBeNull();
    expect(strategyOf(cautious(capabilitiesWith({ periods: { readable: false } }), () => false)).unsafe).toBeNull();
  });
});
