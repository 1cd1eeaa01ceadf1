import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { integer, nullable, numeric, text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { D } from '../simulation/oracle-cents.ts';
import { type Balances, balancesOf, differences } from '../support/balances.ts';
import { closePeriods } from '../support/closing.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { repostAll } from '../support/reposting.ts';

// Books depend on documents, mapping and decisions, and not on the order in which these came (ACCOUNTING R5, R8).

const { db, url } = useDatabase();
const demo = readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8').replace(
  ', rate: 25.5, kind: domestic}',
  ', rate: 25.5, kind: domestic, account: "2931"}',
);
const withVat = (policy: string) => demo.replace('policies:\n', `policies:\n  prepayment_vat: ${policy}\n`);
const atReceipt = withVat('{at_receipt: 2026-01-01, group: {name: "VAT 25.5 %", rate: 25.5}}');

const clinics: MirroredClinic[] = [];
let nextId = 4900;
afterAll(() => {
  for (const clinic of clinics) clinic.remove();
});

async function clinicOf(mapping: string, options: { seed: number; invoices: number }): Promise<MirroredClinic> {
  const clinic = new MirroredClinic(db, url, { id: nextId++, ...options });
  clinics.push(clinic);
  await clinic.configure(mapping);
  return clinic;
}

async function window(clinic: MirroredClinic): Promise<void> {
  await clinic.pull();
  await clinic.post();
}

/** A prepayment of 200.00, of which 119.00 and 51.00 are used and 30.00 refunded, with a window after each. */
async function used(clinic: MirroredClinic) {
  const { clinic: source } = clinic;
  const { id: client } = source.clients.all()[0]!;
  const invoice = source.createInvoice({
    ...{ department: 11, client, invoice_date: '2026-03-10', status: 3 },
    rows: [{ sum: '200.00', vat_percentage: '0.00', account_number: '3000' }],
  });
  const received = { department: 11, client, payment_type: 7, paid: '200.00', status: 'Ready' } as const;
  const prepayment = source.takePrepayment(received);
  await window(clinic);
  const payments: { id: number }[] = [];
  for (const paid of ['119.00', '51.00']) {
    payments.push(source.applyPrepayment(prepayment.id, invoice.id, paid));
    await window(clinic);
  }
  const refund = source.refundPrepayment(prepayment.id, '30.00', {});
  await window(clinic);
  return { prepayment, payments, refund };
}

/** The amount of `prepayment_vat` in the entry in force of a document, debit positive; empty without such a line. */
async function suspendedOf(installation: number, kind: string, id: number): Promise<string> {
  const found = await rows(
    db,
    { balance: text },
    `select round(sum(case l.side when 'debit' then l.amount else -l.amount end), 2)::text as balance
     from document d join entry_line l on l.entry_id = d.entry_id
     where d.installation = ? and d.kind = ? and d.id = ? and l.role = 'prepayment_vat' having count(*) > 0`,
    [installation, kind, id],
  );
  return found[0]?.balance ?? '';
}

/** The matches of uses. They must be equal on both ways, or the comparison is meaningless. */
async function matchesOf(installation: number): Promise<string[]> {
  const found = await rows(
    db,
    { payment: integer, prepayment: integer },
    `select payment_id as payment, prepayment_id as prepayment from prepayment_match where installation = ? order by 1, 2`,
    [installation],
  );
  return found.map(({ payment, prepayment }) => `payment ${payment} of prepayment ${prepayment}`);
}

/**
 * Computes from the source's records and the matches alone: the VAT given back for each prepayment is VAT × taken /
 * paid, half-even. `taken` is the sum of its matched uses and its refunds.
 */
async function wrongShares({ id, clinic }: MirroredClinic): Promise<string[]> {
  const found = await rows(
    db,
    { prepayment: integer, own: numeric, given: numeric, used: numeric },
    `select d.id as prepayment, coalesce((select sum(amount) from entry_line where entry_id = d.entry_id and role = 'prepayment_vat' and side = 'debit'), 0) as own,
       coalesce((select sum(s.vat) from entry_share s join document u on u.entry_id = s.entry_id where s.installation = d.installation and s.prepayment_id = d.id), 0) as given,
       coalesce((select sum(amount) from prepayment_match where installation = d.installation and prepayment_id = d.id), 0) as used
     from document d where d.installation = ? and d.kind = 'prepayment' and d.entry_id is not null`,
    [id],
  );
  return found.flatMap(({ prepayment, own, given, used }) => {
    const { paid, refunds } = clinic.prepayments.get(prepayment)!;
    if (refunds !== null) return [];
    const money = ['Ready', 'Fully used'];
    const refunded = clinic.prepayments
      .all()
      .filter((each) => each.refunds === prepayment && money.includes(each.status));
    const taken = refunded.reduce((sum, each) => sum.minus(each.paid), new D(used));
    const asked = new D(own).times(taken).dividedBy(paid).toDecimalPlaces(2);
    return asked.equals(given)
      ? []
      : [`prepayment ${prepayment} gave back ${given} of ${own}, should give ${asked.toFixed()}`];
  });
}

test('VAT at receipt, switched on later: repost brings the uses and the refund, too, and leaves nothing to a window', async () => {
  const clinic = await clinicOf(demo, { seed: 6, invoices: 5 });
  const { prepayment, payments, refund } = await used(clinic);
  await clinic.configure(atReceipt);
  const outcomes = await repostAll(db, clinic);
  const documents = [
    ['prepayment', prepayment.id],
    ...payments.map(({ id }) => ['payment', id]),
    ['prepayment', refund.id],
  ] as [string, number][];
  const all = () => Promise.all(documents.map(([kind, id]) => suspendedOf(clinic.id, kind, id)));
  // 200.00 × 25.5 / 125.5 = 40.64. The share of 119.00 is 24.18, of 170.00 34.54, of 200.00 40.64.
  expect(await all()).toEqual(['40.64', '-24.18', '-10.36', '-6.10']);
  expect([...new Set(outcomes.values())].toSorted()).toEqual(['corrected', 'same']);
  expect([...new Set((await repostAll(db, clinic)).values())]).toEqual(['same']);
  await clinic.post();
  expect(await all()).toEqual(['40.64', '-24.18', '-10.36', '-6.10']);
  // The rate changes, and then VAT on prepayments ends.
  await clinic.configure(
    withVat('{at_receipt: 2026-01-01, group: {name: "VAT 14 %", rate: 14}}').replace(
      '"VAT 14 %", rate: 14, kind: domestic}',
      '"VAT 14 %", rate: 14, kind: domestic, account: "2932"}',
    ),
  );
  await repostAll(db, clinic);
  // 200.00 × 14 / 114 = 24.56. The share of 119.00 is 14.61, of 170.00 20.88.
  expect(await all()).toEqual(['24.56', '-14.61', '-6.27', '-3.68']);
  await clinic.configure(demo);
  await repostAll(db, clinic);
  expect(await all()).toEqual(['', '', '', '']);
});

/** Complete changes of the demo's mapping, which hold no posted document. */
const changes: Record<string, (mapping: Mapping) => void> = {
  'VAT on prepayments at receipt': (mapping) => policy(mapping, '2026-01-01', 'VAT 25.5 %', 25.5),
  'from February on, at another rate': (mapping) => policy(mapping, '2026-02-01', 'VAT 14 %', 14),
  'by payment type': (mapping) =>
    policy(mapping, '2026-01-15', 'VAT 25.5 %', 25.5, { payment_types: { 7: { name: 'VAT 10 %', rate: 10 } } }),
  'of some payment types only': (mapping) => {
    mapping.policies.prepayment_vat = {
      at_receipt: '2026-01-01',
      payment_types: { 0: { name: 'VAT 25.5 %', rate: 25.5 } },
    };
  },
  listed: (mapping) => {
    mapping.policies.prepayment_vat = 'listed';
  },
  'the account of VAT on prepayments': (mapping) => {
    mapping.roles.prepayment_vat = '2409';
  },
  'the prepayments’ account': (mapping) => {
    mapping.roles.prepayment_liability = '2405';
  },
  'the VAT account of a group': (mapping) => {
    mapping.vat_groups[0]!.account = '2938';
  },
  'what clients owe': (mapping) => {
    mapping.roles.receivable = '1701';
  },
  'a payment type elsewhere': (mapping) => {
    mapping.payment_types = { 7: { role: 'card_clearing' }, 0: { departments: { 11: { account: '1926' } } } };
  },
  'revenue by a table': (mapping) => {
    mapping.revenue = { 3000: '4000', 3010: '4010', '*': 'same' };
  },
  'gift cards of another account': (mapping) => {
    mapping.roles.gift_card_liability = '2419';
  },
  'the kind of a group': (mapping) => {
    mapping.vat_groups[4]!.kind = 'outside';
  },
  'counter sales': (mapping) => {
    mapping.cash_customer = 'COUNTER';
  },
  insurance: (mapping) => {
    mapping.counterparties.insurance_receivable = 'OTHER INSURANCE';
  },
};

interface Mapping {
  roles: Record<string, string>;
  revenue: unknown;
  vat_groups: { account?: string; kind: string }[];
  payment_types?: unknown;
  policies: { prepayment_vat?: unknown };
  cash_customer: string;
  counterparties: Record<string, string>;
}

function policy(mapping: Mapping, at_receipt: string, name: string, rate: number, more = {}): void {
  mapping.policies.prepayment_vat = { at_receipt, group: { name, rate }, ...more };
}

/** The demo's mapping with several changes in order. */
function mappingWith(names: readonly string[]): string {
  const mapping = parse(demo) as Mapping;
  for (const [at, account] of ['2931', '2932', '2933', '2932'].entries()) mapping.vat_groups[at]!.account = account;
  for (const name of names) changes[name]!(mapping);
  return stringify(mapping);
}

const someChanges = fc.array(fc.constantFrom(...Object.keys(changes)), { maxLength: 4 });

/**
 * The events before each window of a life: some live events, and sometimes another mapping with or without a repost.
 */
const step = fc.record({
  events: fc.integer({ min: 0, max: 25 }),
  mapping: fc.option(someChanges, { freq: 2 }),
  isReposted: fc.boolean(),
});

test('whatever the way to a mapping: load and repost, or the other way round', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000_000 }),
      someChanges,
      fc.array(step, { minLength: 1, maxLength: 4 }),
      someChanges,
      async (seed, first, steps, last) => {
        const options = { seed, invoices: 40 };
        const [one, other] = [await clinicOf(mappingWith(first), options), await clinicOf(mappingWith(last), options)];
        for (const { events, mapping, isReposted } of steps) {
          for (const clinic of [one, other]) {
            clinic.live(events);
            await window(clinic);
          }
          if (mapping !== null) await one.configure(mappingWith(mapping));
          if (isReposted) await repostAll(db, one);
        }
        await one.configure(mappingWith(last));
        const outcomes = [...new Set((await repostAll(db, one)).values())];
        expect(outcomes.filter((outcome) => outcome !== 'same' && outcome !== 'corrected')).toEqual([]);
        const reposted = await balancesOf(db, one.id);
        expect(await matchesOf(one.id)).toEqual(await matchesOf(other.id));
        expect(differences(reposted, await balancesOf(db, other.id), '0.01')).toEqual([]);
        expect(await wrongShares(one)).toEqual([]);
        // After the repost, a window finds no further correction.
        await one.post();
        expect(differences(await balancesOf(db, one.id), reposted, '0')).toEqual([]);
      },
    ),
    { numRuns: 8, endOnFailure: true },
  );
});

/** The corrections that a closed period holds, with their effect on each account. */
async function heldChanges(installation: number): Promise<Map<string, Map<string, D>>> {
  const found = await rows(
    db,
    { document: text, account: nullable(text), amount: nullable(numeric) },
    `select d.kind || '/' || d.id as document, e->>'account' as account, (e->>'amount')::numeric as amount
     from document d left join lateral jsonb_array_elements(d.problem_details->'effect') e on true
     where d.installation = ? and d.problem_code = 'change_held'`,
    [installation],
  );
  const held = new Map<string, Map<string, D>>();
  for (const { document, account, amount } of found) {
    const effect = held.get(document) ?? new Map<string, D>();
    if (account !== null) effect.set(account, new D(amount ?? 0));
    held.set(document, effect);
  }
  return held;
}

/** The balance of each account from a document's entries. */
function accountsOf({ exact, shares }: Balances, document: string): Map<string, D> {
  const accounts = new Map<string, D>();
  for (const [key, balance] of [...exact, ...shares]) {
    if (!key.startsWith(`${document}: `)) continue;
    const account = key.slice(document.length + 2).split(' | ')[0]!;
    accounts.set(account, (accounts.get(account) ?? new D(0)).plus(balance));
  }
  return accounts;
}

test.each([
  ['VAT on prepayments at receipt', 11],
  ['the prepayments’ account', 12],
  ['revenue by a table', 13],
  ['what clients owe', 14],
])('with a closed period the difference is what is listed as change_held: %s', async (change, seed) => {
  const [one, other] = [
    await clinicOf(mappingWith([]), { seed, invoices: 60 }),
    await clinicOf(mappingWith([change]), { seed, invoices: 60 }),
  ];
  for (const clinic of [one, other]) {
    await window(clinic);
    clinic.live(30);
    await window(clinic);
  }
  await closePeriods(db, [{ id: one.id, today: '2026-12-31' }], '2026-02-10');
  await one.configure(mappingWith([change]));
  const outcomes = await repostAll(db, one);
  await one.post();
  const held = await heldChanges(one.id);
  expect(held.size).toBeGreaterThan(1);
  expect(
    [...outcomes].flatMap(([document, outcome]) => (outcome === 'change_held' ? document : [])).toSorted(),
  ).toEqual([...held.keys()].toSorted());
  // Uses and refunds of a held prepayment are corrected only together with it.
  const following = await rows(
    db,
    { document: text },
    `select 'payment/' || payment_id as document from prepayment_match where installation = ? and 'prepayment/' || prepayment_id = any(?)
     union select 'prepayment/' || refund_id from prepayment_refund where installation = ? and 'prepayment/' || original_id = any(?)`,
    [one.id, [...held.keys()], one.id, [...held.keys()]],
  );
  const aside = new Set([...held.keys(), ...following.map(({ document }) => document)]);
  const [mine, theirs] = [await balancesOf(db, one.id), await balancesOf(db, other.id)];
  const isOpen = (key: string) => !aside.has(key.split(': ')[0]!);
  const open = (balances: Balances): Balances => ({
    exact: new Map([...balances.exact].filter(([key]) => isOpen(key))),
    shares: new Map([...balances.shares].filter(([key]) => isOpen(key))),
    sums: new Map(),
  });
  expect(differences(open(mine), open(theirs), '0.01')).toEqual([]);
  for (const [document, effect] of held) {
    const [is, asked] = [accountsOf(mine, document), accountsOf(theirs, document)];
    for (const account of new Set([...is.keys(), ...asked.keys(), ...effect.keys()])) {
      const of = (balances: Map<string, D>) => balances.get(account) ?? new D(0);
      expect(`${document} ${account} ${of(is).plus(of(effect)).toFixed(2)}`).toBe(
        `${document} ${account} ${of(asked).toFixed(2)}`,
      );
    }
  }
});
