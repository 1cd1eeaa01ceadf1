// A world of the differential run: its clinic, its books and its steps. It depends only on the seed.

import type { Quirks } from '../../sandbox/src/quirks.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import { answerFaults } from '../simulator/answers.ts';
import { poisons } from '../simulator/poisons.ts';

export const installation = 4711;
export const erps = ['ledger', 'csv', 'sie4', 'datev', 'odoo', 'tryton'] as const;
export type Erp = (typeof erps)[number];

/** An event in the clinic or the ERP before a command; happenings.ts implements each. */
export type Happening =
  | 'a visit'
  | 'a forgotten visit'
  | 'a new price'
  | 'a wrong total'
  | 'the total put right'
  | 'a void'
  | 'a deleted invoice'
  | 'a deleted payment'
  | 'the ERP closes February'
  | 'the ERP opens February'
  | { poison: string }
  | { unpoison: true };

/** A fault at the `nth` request of a list (from 1) while a command runs: a faulty answer, or the end of the command. */
export interface Strike {
  list: string;
  nth: number;
  what: string | 'kill';
}

export interface Step {
  /** The clinic's clock first advances by this many hours. */
  hours: number;
  /** The number of live events. */
  events: number;
  happenings: Happening[];
  strikes: Strike[];
  /** The words of the command line. Names in braces stand for ids of documents from the events. */
  command: string[];
  /** From here on, commands use the changed mapping. */
  remapped?: true;
}

export interface World {
  seed: number;
  clinic: { invoices: number; historyDays: number; quirks: Partial<Quirks> };
  erp: Erp;
  /** Settings of the installation in addition to those that every world has. */
  settings: Record<string, string>;
  /** Texts of the mapping with their replacements from the beginning. */
  policies: [string, string][];
  steps: Step[];
  /** The commands whose output is compared at the end, when nothing changes any more. */
  questions: string[][];
}

/** The time of the clinic at the beginning; every step continues from there. */
export const begins = '2026-03-02T08:00:00Z';

const words = (line: string) => line.split(' ');
const by = ['--reason', 'an answer of the practice', '--by', 'M. Virtanen'];
const sync = ['sync', '--json'];
const lists = ['invoice', 'invoicerow', 'invoicepayment', 'unallocatedpayment'];
/** Faults that do not falsify an answer and that do not delay a window long. */
const faults = Object.entries(answerFaults).flatMap(([name, { honest, slow }]) => (honest && !slow ? [name] : []));

/** The world of a seed. The same seed gives the same world. */
export function worldOf(seed: number): World {
  const rng = new Rng(seed, 'differ');
  const erp = rng.weighted<Erp>([
    ['ledger', 5],
    ...(['csv', 'sie4', 'datev'] as const).map((kind) => [kind, 1] as const),
    ['odoo', 3],
    ['tryton', 1],
  ]);
  const summed = rng.chance(0.25);
  const settings = {
    ...(summed ? { posting_mode: 'daily_summary' } : {}),
    ...(rng.chance(0.3) ? { start_date: '2026-02-01' } : {}),
  };
  const policies: [string, string][] = rng.chance(0.3) ? [['locked_period: hold', 'locked_period: redate']] : [];
  const clinic = { invoices: rng.int(15, 50), historyDays: rng.int(20, 60), quirks: quirksOf(rng) };
  const chapters = Object.entries(chaptersOf(rng, erp));
  const [first, second] = shuffled(rng, chapters);
  const told = rng.chance(0.25) ? [first, second] : [first];
  const steps = [step(rng, sync, { hours: 1, events: rng.int(0, 8) }), ...told.flatMap((each) => each?.[1] ?? [])];
  disturb(rng, steps);
  const calm = () => step(rng, sync, { hours: 26, events: 0 });
  // The next window completes what a killed window left, and the last window completes the rest.
  const rest = steps.some(({ strikes }) => strikes.length > 0) ? [calm(), calm()] : [calm()];
  const questions = [
    words('export --format csv'),
    words('problems --json'),
    words(erp === 'odoo' || erp === 'tryton' ? 'reconcile --erp --full --json' : 'reconcile --json'),
    words('windows --limit 100 --json'),
    words(rng.pick(others)),
  ];
  return { seed, clinic, erp, settings, policies, steps: [...steps, ...rest], questions };
}

/** A small world that shows each deliberate change of the self-test: card payments, and a document that stays held. */
export function selfTestWorld(): World {
  const rng = new Rng(1, 'self-test');
  const { questions, ...world } = worldOf(1);
  const clinic = { invoices: 20, historyDays: 30, quirks: {} };
  const steps = [step(rng, sync), step(rng, sync, { happenings: ['a wrong total'] })];
  return { ...world, clinic, erp: 'ledger', settings: {}, policies: [], steps, questions: questions.slice(0, 2) };
}

/** One of these commands is compared in addition to the four of every world. */
const others = [
  'report vat --month 2026-02 --json',
  'report eu-sales --month 2026-02 --json',
  'report receivables --as-of 2026-02-28 --json',
  'report prepayments --as-of 2026-02-28 --json',
  'report vouchers --as-of 2026-02-28 --json',
  'report clearing --month 2026-02 --json',
  'late --json',
  'mapping history --json',
  'ledger closes --json',
  'ledger verify --json',
  'preview --json',
  'windows --gaps --json',
  'export --format hledger',
  'export --format beancount',
];

function step(rng: Rng, command: string[], more: Partial<Step> = {}): Step {
  return { hours: rng.int(2, 20), events: rng.int(0, 5), happenings: [], strikes: [], command, ...more };
}

/** The possible parts of a world, by name. */
function chaptersOf(rng: Rng, erp: Erp): Record<string, Step[]> {
  const happens = (happenings: Happening[], command = sync): Step => step(rng, command, { happenings });
  const decide = (which: string, how: string) => step(rng, ['late', 'decide', which, how, ...by, '--json']);
  const invoice = (name: string) => `${installation}/invoice/{${name}}`;
  const close = step(rng, words('ledger close --through 2026-02-28 --yes --by V --json'));
  const speaks = erp === 'odoo' || erp === 'tryton';
  return {
    close: [
      happens(['a visit'], sync),
      close,
      happens(['a forgotten visit', 'a new price']),
      decide(invoice('forgotten'), rng.pick(['--redate', '--wait', '--accept-date'])),
      decide(invoice('changed'), rng.pick(['--redate', '--as-dated'])),
      ...(rng.chance(0.5) ? [step(rng, ['ledger', 'reopen', '--from', '2026-02-20', ...by, '--yes', '--json'])] : []),
      step(rng, sync),
    ],
    correction: [happens(['a wrong total', 'a new price']), happens(['the total put right', 'a void'])],
    gone: [
      step(rng, sync, { hours: 26, happenings: [rng.pick(['a deleted invoice', 'a deleted payment'] as const)] }),
      decide(`${installation}/{gone}`, '--confirm-gone'),
    ],
    poison: [
      happens([{ poison: rng.pick(Object.keys(poisons)) }, { poison: rng.pick(Object.keys(poisons)) }]),
      happens([{ unpoison: true }]),
    ],
    mapping: [step(rng, words('repost --all --yes --json'), { remapped: true }), step(rng, sync, { events: 4 })],
    again: [
      step(
        rng,
        words(
          rng.pick(['backfill --json', 'backfill --from 2026-02-10 --json', 'replay --from 2026-02-20 --yes --json']),
        ),
      ),
    ],
    ...(erp === 'ledger'
      ? {}
      : {
          delivery: [
            step(rng, ['deliver', 'pause', ...by, '--json']),
            step(rng, sync, { events: 6 }),
            step(rng, words('deliver resume --by V --json')),
            step(rng, words('deliver --json')),
            ...(speaks
              ? [step(rng, ['deliver', 'undo', '--from', '2026-02-25', '--to', '2026-02-28', '--yes', ...by, '--json'])]
              : []),
          ],
        }),
    ...(erp === 'odoo'
      ? {
          period: [
            happens(['the ERP closes February', 'a forgotten visit', 'a new price']),
            decide(invoice('forgotten'), '--redate'),
            happens(['the ERP opens February'], words('deliver retry --all --json')),
          ],
        }
      : {}),
  };
}

/** Adds faulty answers to some windows and kills the processes of others. The next command continues from there. */
function disturb(rng: Rng, steps: Step[]): void {
  const windows = steps.filter(({ command }) => command[0] === 'sync');
  for (const one of windows) {
    if (!rng.chance(0.35)) continue;
    one.strikes.push({ list: rng.pick(lists), nth: rng.int(1, 2), what: rng.pick(faults) });
  }
  if (rng.chance(0.2)) rng.pick(windows).strikes.push({ list: rng.pick(lists), nth: 1, what: 'kill' });
}

function shuffled<Item>(rng: Rng, items: readonly Item[]): Item[] {
  return items
    .map((item) => [rng.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

function quirksOf(rng: Rng): Partial<Quirks> {
  if (rng.chance(0.3)) return {};
  return {
    order: rng.pick(['id', 'id', 'id_desc', 'modified']),
    ignoredFilters: rng.chance(0.3) ? [rng.pick(['id__gt', 'invoice__in', 'modified__gte', 'id__in', 'id__lt'])] : [],
    refusedFilters: rng.chance(0.15) ? [rng.pick(['invoice__in', 'id__in', 'modified__lt'])] : [],
    decimals: rng.pick(['mixed', 'string', 'number']),
    timestamps: rng.pick(['offset', 'zulu', 'naive']),
    invoiceDateAsDatetime: rng.chance(0.2),
    extraFields: rng.chance(0.3),
    urlReferences: rng.pick(['absolute', 'query', 'otherHost']),
    paymentTouchesInvoice: rng.chance(0.7),
    refundLowersUnused: rng.chance(0.7),
    externalInfo: rng.pick(['patch', 'patch', 'subresource']),
    defaultPageSize: rng.pick([50, 50, 10]),
    maxPageSize: rng.pick([1000, 1000, 20]),
  };
}
