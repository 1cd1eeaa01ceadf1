// What Netvisor does otherwise than one expects. Each trap also catches a target that is wrong.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { compareEntry } from '../../../src/erp/compare.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import { attempt, created, errorOf, journal, type Mutant, open, request, sale } from './open.ts';

interface Trap {
  /** Throws if the target is caught. */
  run(on: ReturnType<typeof open>): Promise<void>;
  mutant: Mutant;
}

const inBody =
  (from: RegExp, to: string): Mutant =>
  (sent) =>
    sent.path.startsWith('/accounting.nv') ? { ...sent, body: sent.body.replace(from, to) } : null;
const inQuery =
  (from: RegExp, to: string | ((found: string) => string)): Mutant =>
  (sent) => ({ ...sent, path: sent.path.replace(from, to as string) });
const daysLater = (days: number) => (found: string) => {
  const [name, date = ''] = found.split('=');
  return `${name}=${new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)}`;
};
const withId =
  (id: (sent: { verb?: string }) => string): Mutant =>
  (sent) => ({ ...sent, headers: { ...sent.headers, 'X-Netvisor-Authentication-TransactionId': id(sent) } });

const find = async (target: ErpTarget, { key, date }: ErpEntry, since: string) =>
  (await target.find([{ key, dates: [date], since: new Date(since) }], request)).found.map(({ id }) => id);

async function differences(target: ErpTarget, entry: ErpEntry): Promise<string[]> {
  const [found] = await target.read([await created(target, entry)], request);
  if (found === undefined) throw new Error('not found');
  const options = { capabilities: target.capabilities, decimals: 2 };
  return compareEntry(entry, found, options).map(({ message }) => message);
}

async function inBooks(target: ErpTarget, from: string, through: string): Promise<string[]> {
  const states: string[] = [];
  for await (const page of target.books?.entries({ from, through, changedSince: null, accounts: [] }, request) ?? [])
    states.push(...page.map(({ state }) => state));
  return states;
}

const traps: Record<string, Trap> = {
  'a dimension that is gone, and that Netvisor would create': {
    async run({ fake, target }) {
      await created(target, sale(1));
      fake.dimensions.set('project', []);
      expect(await errorOf(created(target, sale(2)))).toMatchObject({ means: 'refused' });
      expect(fake.dimensions.get('project')).toEqual([]);
    },
    mutant: inQuery(/\?useonlyexistingdimensions=1/, ''),
  },
  'a line without a VAT code, which gets the one of its account': {
    async run({ target }) {
      const lines: Parameters<typeof sale>[1] = {
        lines: [
          ['1700', '10'],
          ['3000', '-10'],
        ],
      };
      expect(await differences(target, sale(1, lines))).toEqual([]);
    },
    mutant: inBody(/ vatcode="NONE"/g, ''),
  },
  'a VAT line with a code, which Netvisor reports as a sale': {
    async run({ fake, target }) {
      expect(await differences(target, sale(1))).toEqual([]);
      expect([...fake.sales()]).toEqual([['KOMY 25,5', '-100.00']]);
    },
    mutant: inBody(
      /(<accountnumber>2931<\/accountnumber>)<vatpercent vatcode="NONE">0</,
      '$1<vatpercent vatcode="KOMY">25,5<',
    ),
  },
  'elements in another order than that of the document type': {
    async run({ target }) {
      await created(target, sale(1));
    },
    mutant: inBody(/(<description>.*?<\/description>)(<voucherclass>.*?<\/voucherclass>)/, '$2$1'),
  },
  'the mode gross, in which Netvisor adds lines': {
    async run({ target }) {
      expect(await differences(target, sale(1))).toEqual([]);
    },
    mutant: inBody(/<calculationmode>net</, '<calculationmode>gross<'),
  },
  'an amount with a decimal point': {
    async run({ target }) {
      expect(await differences(target, sale(1))).toEqual([]);
    },
    mutant: inBody(/(\d),(\d\d<\/linesum>)/g, '$1.$2'),
  },
  'an abbreviation instead of the name of a voucher type': {
    async run({ target }) {
      await created(target, sale(1));
    },
    mutant: inBody(new RegExp(journal), 'EL'),
  },
  'the first and the last day of a search, which may not count': {
    async run({ target }) {
      const { date } = sale(1);
      await created(target, sale(1));
      expect(await inBooks(target, date, date)).toEqual(['posted']);
    },
    mutant: (sent) => inQuery(/startdate=[\d-]+/, daysLater(1))(inQuery(/enddate=[\d-]+/, daysLater(-1))(sent) ?? sent),
  },
  'a change on the day of the search, in another time zone': {
    async run({ target, time }) {
      await created(target, sale(1));
      const since = new Date(time.nowMs + 60_000).toISOString();
      expect(await find(target, sale(1), since)).toHaveLength(1);
    },
    mutant: inQuery(/changedsince=[\d-]+/, daysLater(2)),
  },
  'a voucher whose date a person has changed': {
    async run({ fake, target }) {
      const id = await created(target, sale(1));
      fake.change(id, { date: '2026-01-27' });
      expect(await find(target, sale(1), '2026-03-06T06:00:00Z')).toEqual([id]);
    },
    mutant: inQuery(/changedsince=[\d-]+/, 'startdate=2026-03-01&enddate=2026-03-31'),
  },
  'an invalidated voucher, which the ledger hides': {
    async run({ fake, target }) {
      const { date } = sale(1);
      fake.change(await created(target, sale(1)), { status: 'invalidated' });
      expect(await inBooks(target, date, date)).toEqual(['void']);
    },
    mutant: inQuery(/&voucherstatus=1/, ''),
  },
  'a repeated request, which only its id makes known': {
    async run({ fake, target }) {
      await target.create([sale(1)], attempt('attempt of a sale'));
      expect(await errorOf(target.create([sale(1)], attempt('attempt of a sale')))).toMatchObject({
        means: 'repeated',
      });
      expect(fake.held()).toHaveLength(1);
    },
    mutant: withId(() => randomUUID()),
  },
  'reading requests, whose ids must differ too': {
    async run({ target }) {
      await target.periods(request);
      await target.periods(request);
    },
    mutant: withId(() => 'always the same'),
  },
  'more ids than a request may have': {
    async run({ fake, target }) {
      const id = await created(target, sale(1));
      fake.asked.length = 0;
      const others = Array.from({ length: 1_100 }, (_, n) => String(9_000 + n));
      expect(await target.read([...others, id], request)).toHaveLength(1);
      expect(fake.asked.filter((each) => each.includes('netvisorkeylist='))).toHaveLength(3);
    },
    mutant: inQuery(/netvisorkeylist=/, `netvisorkeylist=${'1,'.repeat(500)}`),
  },
};

describe.each(Object.entries(traps))('%s', (_, { run, mutant }) => {
  test('does not catch the target', () => run(open()));
  test('catches a target that is wrong', async () => {
    await expect(run(open(mutant))).rejects.toThrow();
  });
});
