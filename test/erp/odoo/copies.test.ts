// An accountant reverses or duplicates a delivered entry in Odoo. The target must report the copy to the
// reconciliation, with the side on which its base counts.
import { describe, expect, test } from 'vitest';
import type { FoundEntry } from '../../../src/erp/erp-entry.ts';
import { duplicate, reverseEntry } from './fake/copies.ts';
import type { OdooVersion } from './fake/schema.ts';
import { Trap } from './traps/cases.ts';

const request = { signal: new AbortController().signal, priority: 0, attemptId: 'attempt' };
const year = { from: '2026-01-01', through: '2026-12-31' };
const versions: OdooVersion[] = [17, 18, 19];

describe.each(versions)('Odoo %i', (version) => {
  async function delivered() {
    const trap = new Trap(version);
    const entry = trap.sale();
    const [line, ...others] = entry.lines;
    const [id = ''] = await trap.create({ ...entry, lines: [{ ...line!, dueDate: '2026-03-16' }, ...others] });
    await trap.target.post([id], request);
    return { trap, id };
  }

  async function copiesIn({ target }: Trap, journals: string[]): Promise<FoundEntry[]> {
    const found: FoundEntry[] = [];
    for await (const page of target.books!.copies!({ ...year, changedSince: null, journals }, request))
      found.push(...page);
    return found;
  }

  const baseOf = (entry: FoundEntry) =>
    entry.lines
      .flatMap(({ vat }) => vat)
      .find(({ part }) => part === 'base')
      ?.amount.toFixed(2);

  test('a reversal made in Odoo names its origin, in any journal; up to 18 its base has the sign of another sale', async () => {
    const { trap, id } = await delivered();
    expect(await copiesIn(trap, [])).toEqual([]);
    reverseEntry(trap.fake.odoo.inside(), Number(id), '2026-03-05', 'a mistake');
    const [copy, ...more] = await copiesIn(trap, []);
    expect(more).toEqual([]);
    expect(copy).toMatchObject({ key: null, originId: id, date: '2026-03-05', state: 'posted' });
    expect(copy!.description).toMatch(/^Reversal of: SALES\S+, a mistake$/);
    expect(copy!.lines.map(({ account, amount }) => [account, amount.toFixed(2)]).toSorted()).toEqual([
      ['1700', '-125.50'],
      ['2931', '25.50'],
      ['3000', '100.00'],
    ]);
    // A sale's base is a credit, so its reversal must count as a debit.
    expect(baseOf(await trap.read(id))).toBe('-100.00');
    expect(baseOf(copy!)).toBe(version === 19 ? '100.00' : '-100.00');
  });

  test('a duplicate has only our lines, and is found by its journal', async () => {
    const { trap, id } = await delivered();
    duplicate(trap.fake.odoo.inside({ skip_invoice_sync: true }), Number(id));
    expect(await copiesIn(trap, [])).toEqual([]);
    const [copy, ...more] = await copiesIn(trap, ['SALES']);
    expect(more).toEqual([]);
    expect(copy).toMatchObject({ key: null, description: '', state: 'posted' });
    expect(copy!.originId).toBeUndefined();
    expect(copy!.lines.map(({ label }) => label)).toEqual(['a line', 'a line', 'a line']);
    expect(baseOf(copy!)).toBe(version === 19 ? '-100.00' : '100.00');
  });

  test('labels and due dates are read back', async () => {
    const { trap, id } = await delivered();
    const { lines } = await trap.read(id);
    expect(lines.map(({ account, label, dueDate }) => [account, label, dueDate]).toSorted()).toEqual([
      ['1700', 'a line', '2026-03-16'],
      ['2931', 'a line', null],
      ['3000', 'a line', null],
    ]);
  });
});
