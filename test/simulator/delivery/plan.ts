// The entries that the practice posts in a life, and the entries that the ERP must then have. They are computed from the plan,
// without the code that translates, sends or compares.

import { createHash } from 'node:crypto';
import type { Rng } from '../../../sandbox/src/rng.ts';
import type { Db } from '../../../src/db/pool.ts';
import { type DraftEntry, reversedLines } from '../../../src/domain/entry.ts';
import { Money } from '../../../src/domain/money.ts';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import type { Flaws } from '../../erp/fake/server.ts';
import { draft } from '../../ledger/drafts.ts';
import type { JudgedErp } from './erp.ts';

/** The accounts and values that always cause a fault. The oracle knows the required result of each. */
export const flaws: Flaws = {
  unknownAccounts: new Set(['3991']),
  strangeAccounts: new Set(['3992']),
  droppedAccounts: new Set(['3993']),
  balancedAccounts: new Set(['3994']),
  unknownValues: new Set(['nowhere']),
};
const flawed = ['3991', '3992', '3993', '3994', 'nowhere'] as const;
export type Flaw = (typeof flawed)[number];

/** An entry that the practice posts. */
export interface PlannedEntry {
  installation: number;
  /** Unique in the round, because the ERP's books are searched for it. It is the entry's description. */
  name: string;
  unitId: string;
  date: string;
  /** The previous entry of the same document; null for the first. */
  follows: string | null;
  flaw: Flaw | null;
  atMs: number;
  draft: DraftEntry;
}

export const dates = ['2026-01-30', '2026-02-10', '2026-02-27', '2026-03-02', '2026-03-05'];

/** The entries that the practice will post, in order of time. */
export function plan(
  rng: Rng,
  {
    installations,
    documents,
    fromMs,
    throughMs,
    flawShare,
  }: {
    installations: readonly number[];
    documents: number;
    fromMs: number;
    throughMs: number;
    flawShare: number;
  },
): PlannedEntry[] {
  const planned: PlannedEntry[] = [];
  for (let id = 1; id <= documents; id++) {
    const installation = rng.pick(installations);
    let flaw = rng.chance(flawShare) ? rng.pick(flawed) : null;
    let atMs = rng.int(fromMs, throughMs);
    let before: PlannedEntry | null = null;
    const add = (entry: DraftEntry) => {
      const n: number = before === null ? 1 : Number(before.unitId.split('/').at(-1)) + 1;
      const unitId = `${installation}/invoice/${id}/${n}`;
      const name = `invoice ${id} of ${installation}, ${n}`;
      const one: PlannedEntry = {
        ...{ installation, name, unitId, date: entry.date, follows: before?.name ?? null, flaw, atMs },
        draft: { ...entry, description: name },
      };
      planned.push(one);
      before = one;
      return one;
    };
    let inForce = add(sale(rng, id, flaw));
    // Corrections. Some come at once, some while the corrected entry is being sent, and some long after.
    for (
      let left = rng.weighted([
        [0, 5],
        [1, 3],
        [2, 1],
      ]);
      left > 0;
      left--
    ) {
      atMs += rng.pick([0, 1_000, 60_000, 3_600_000]);
      add({
        ...inForce.draft,
        reason: 'source_changed',
        reverses: inForce.unitId,
        lines: reversedLines(inForce.draft.lines),
      });
      if (rng.chance(0.2)) break;
      // Some corrections repair an entry that the ERP refuses.
      if (rng.chance(0.5)) flaw = null;
      inForce = add({ ...sale(rng, id, flaw), date: inForce.date, inputHash: `facts ${rng.next()}` });
    }
  }
  return planned.sort((a, b) => a.atMs - b.atMs);
}

function sale(rng: Rng, id: number, flaw: Flaw | null): DraftEntry {
  const net = new Money(rng.int(100, 99_999)).div(100);
  // Documents settle cents, so their VAT may be a cent beside the rounded one.
  const off = rng.pick(['-0.01', '0', '0', '0', '0.01']);
  const vat = net.times('0.255').toDecimalPlaces(2, Money.ROUND_HALF_UP).plus(off);
  const account = flaw === null || flaw === 'nowhere' ? rng.pick(['3000', '3010', '3020']) : flaw;
  const department = rng.pick(['east', 'west', null]);
  const dimension = flaw === 'nowhere' ? 'nowhere' : department;
  const group = { group: 'A', rate: new Money('25.5') };
  return draft({
    ...{ kind: 'invoice', id, date: rng.pick(dates) },
    lines: [
      ['1700', 'receivable', net.plus(vat).toFixed(2), { invoiceId: id, party: null }],
      [
        account,
        'revenue',
        net.negated().toFixed(2),
        { dimensions: [dimension, null, null], vat: { ...group, base: null } },
      ],
      ['2931', 'vat', vat.negated().toFixed(2), { vat: { ...group, base: net } }],
    ],
  });
}

/** Posts the due entries into the journal, one transaction per installation. */
export async function append(db: Db, entries: readonly PlannedEntry[]): Promise<void> {
  const byInstallation = Map.groupBy(entries, ({ installation }) => installation);
  for (const [installation, ours] of byInstallation) {
    await db.transaction((trx) =>
      appendEntries(
        trx,
        installation,
        ours.map((entry) => entry.draft),
        { decimals: 2, windowId: null },
      ),
    );
  }
}

/** The mapping's section `erp`, and the other settings of a life. */
export const mappingData = {
  roles: { receivable: '1700' },
  revenue: 'same',
  vat: 'same',
  erp: {
    vat_codes: { A: 'S25' },
    dimensions: { dimension_1: { name: 'project' } },
    journals: { '*': 'SALES' },
    parties: 'collective',
    collective_party: 'CASH',
  },
};

/** The lines that the ERP must have: the amount by account, party and project. */
export function expectedLines({ draft: { lines } }: PlannedEntry, record: JudgedErp['record']): Map<string, string> {
  const amounts = new Map<string, Money>();
  const hasParty = record.capabilities.lines.party !== 'none';
  const hasTaxes = record.capabilities.vat.mode !== 'tagged_bases';
  const hasProject = record.capabilities.dimensions.some(({ theirs }) => theirs === 'project');
  for (const { account, side, amount, dimensions } of lines) {
    const party = hasParty && account === '1700' ? 'CASH' : '';
    const project = hasProject ? (dimensions[0] ?? '') : '';
    addTo(amounts, `${account} ${party} ${project}`, side === 'debit' ? amount : amount.negated());
    if (account === '2931' && !hasTaxes) continue;
    if (account === '2931') addTo(amounts, 'tax S25', side === 'debit' ? amount : amount.negated());
    else if (account !== '1700') addTo(amounts, 'base S25', side === 'debit' ? amount : amount.negated());
  }
  return texts(amounts);
}

export function addTo(amounts: Map<string, Money>, place: string, amount: Money): void {
  amounts.set(place, (amounts.get(place) ?? new Money(0)).plus(amount));
}

export function texts(amounts: Map<string, Money>): Map<string, string> {
  return new Map([...amounts].map(([place, amount]) => [place, amount.toFixed(2)]));
}

/**
 * The key that an entry must have in the ERP, computed independently: 30 bits of a hash of the database id, and 70 bits of a hash
 * of database id and unit id, in base32.
 */
export function expectedKey(databaseId: string, unitId: string): string {
  return lettersOf(databaseId, 6) + lettersOf(`${databaseId}\n${unitId}`, 14);
}

function lettersOf(text: string, count: number): string {
  const hash = createHash('sha256').update(text).digest();
  const bits = [...hash].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = Array.from({ length: count }, (_, n) => Number.parseInt(bits.slice(n * 5, n * 5 + 5), 2));
  return letters.map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[letter]).join('');
}
