// A target with a fake of Netvisor, for the tests.

import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { ErpRequest } from '../../../src/erp/targets/api/http.ts';
import { openNetvisor } from '../../../src/erp/targets/netvisor/index.ts';
import { type EntryLine, erpEntry } from '../fake/entries.ts';
import { SimulatedTime } from '../fake/time.ts';
import { FakeNetvisor } from './fake.ts';

export const silent = { debug: () => {}, info: () => {}, warn: () => {} } as never;
export const journal = 'Eläinlääkäri';

export const attempt = (attemptId: string) => ({ signal: new AbortController().signal, priority: 0, attemptId });
export const request = attempt('reading');

/** A way in which a target could be wrong: it changes a request before it is sent, and signs it. */
export type Mutant = (request: ErpRequest) => ErpRequest | null;

export function open(mutant: Mutant = () => null) {
  const time = new SimulatedTime(Date.parse('2026-03-06T06:00:00Z'));
  const fake = new FakeNetvisor(time.clock());
  const macHeader = 'X-Netvisor-Authentication-MAC';
  const transport = {
    send: (sent: ErpRequest, options: { signal: AbortSignal }) => {
      const changed = mutant(sent);
      if (changed === null) return fake.send(sent, options);
      const headers = { ...changed.headers, [macHeader]: fake.signatureOf(changed) };
      return fake.send({ ...changed, headers }, options);
    },
    close: () => {},
  };
  const target = openNetvisor(fake.config, { clock: time.clock(), log: silent, transport });
  return { fake, target, time };
}

export const vat = { code: 'KOMY 25.5', part: 'base', base: null, rate: new Money('25.5') } as const;

/** A sale of 125.50 with VAT. */
export function sale(n: number, fields: Parameters<typeof erpEntry>[1] = {}): ErpEntry {
  const lines: EntryLine[] = [
    ['1700', '125.50'],
    ['3000', '-100', { vat, dimensions: { project: 'east' } }],
    ['2931', '-25.50', { vat: { ...vat, part: 'tax' } }],
  ];
  return { ...erpEntry(n, { journal, lines, ...fields }), key: `KEY${'ABCDEFGH'.charAt(n).repeat(17)}` };
}

let attempts = 0;

export async function created(target: ErpTarget, entry: ErpEntry): Promise<string> {
  attempts += 1;
  const id = (await target.create([entry], attempt(`attempt-${attempts}`))).get(entry.key);
  if (id === undefined) throw new Error('no id');
  return id;
}

export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('no error');
    },
    (error: unknown) => error,
  );
