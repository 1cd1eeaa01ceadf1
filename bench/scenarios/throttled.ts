// (b) Full loads under the limits: time over the bound, weight over the least, 429s, the used share of each budget, and
// when vetledger posts its entries.
import type { Quirks } from '../../sandbox/src/index.ts';
import { writeSection } from '../measure.ts';
import { type Engine, type EngineName, openEngine } from '../parts/engines.ts';
import {
  boundSeconds,
  count,
  fixed,
  leastWeight,
  listLimits,
  lists,
  pullMarks,
  spanSeconds,
  sumOf,
  table,
  useOf,
  usualPageSize,
} from '../parts/figures.ts';
import { type Source, startSource } from '../parts/sandbox.ts';
import type { Mark } from '../parts/sandbox-process.ts';
import type { Services } from '../parts/services.ts';

interface Load {
  title: string;
  names: EngineName[];
  invoices: number;
  windowSeconds: number;
  latencyMs: number;
  quirks?: Partial<Quirks>;
  /** Further properties of the server, for the report. */
  server?: string[];
  /** The target for the time over the bound. */
  aim: number;
}

const all: EngineName[] = ['vetledger', 'dlt', 'airbyte'];

export function throttled(services: Services, quick: boolean): Promise<void> {
  const [windowSeconds, invoices] = quick ? [2, 2_000] : [10, 19_500];
  const title = '(b) Throttled full load, window of 10 s';
  return atLoad(services, { title, names: all, invoices, windowSeconds, latencyMs: 50, aim: 1.05 });
}

export async function throttledAtTrueWindow(services: Services, quick: boolean): Promise<void> {
  const title = '(b) Throttled full load, window of 60 s';
  // The load is like the one above, with the true rate window of 60 s. Only the duration differs.
  if (quick) return;
  await atLoad(services, { title, names: all, invoices: 6_000, windowSeconds: 60, latencyMs: 50, aim: 1.03 });
}

/** The same load from a server that differs from the sandbox where the specification is silent. */
export function throttledElsewhere(services: Services, quick: boolean): Promise<void> {
  const [windowSeconds, invoices] = quick ? [2, 1_000] : [10, 6_000];
  return atLoad(services, {
    title: '(b) Throttled full load from another server, window of 10 s',
    ...{ names: ['vetledger'], invoices, windowSeconds, latencyMs: 20, aim: 1.1 },
    quirks: { ignoredFilters: ['id__lt'], defaultPageSize: 40, order: 'modified', timestamps: 'naive' },
    server: [
      'This server differs from the sandbox of the other sections where the specification is silent: it ignores `id__lt`, lists the oldest',
      'change first, has 40 records on a page without a size, and writes timestamps without an offset.',
      'In a rolling window whose weight is used at once, the next comes a window later: the rows, 4.5 windows of weight, take 40 s at least.',
      '',
    ],
  });
}

async function atLoad(services: Services, load: Load): Promise<void> {
  const { title, invoices, windowSeconds, latencyMs, quirks = {} } = load;
  const defaultPageSize = quirks.defaultPageSize ?? usualPageSize;
  const totals: (string | number)[][] = [];
  const weights: (string | number)[][] = [];
  const shares: (string | number)[][] = [];
  const posted: (string | number)[][] = [];
  let latency = 0;
  let records = '';
  for (const name of load.names) {
    const source = await startSource({ invoices, rateWindowSeconds: windowSeconds, latencyMs, quirks });
    const engine = await openEngine(name, { source, services });
    try {
      latency = source.latencySeconds;
      records = lists.map((list) => `${count(source.counts[list])} ${list}`).join(', ');
      const { seconds } = await engine.run();
      const marks = await source.marks();
      totals.push([engine.name, ...totalsOf(marks, name, source, seconds)]);
      weights.push([engine.name, ...weightsOf(marks, source, defaultPageSize)]);
      const uses = lists.map((list) => useOf(pullMarks(marks), `${list}.list`, listLimits[list], windowSeconds));
      shares.push([engine.name, ...uses.map(({ share }) => fixed(share, 3))]);
      if (engine.entries) posted.push(await postedOf(marks, engine.entries));
      console.error(`${title}: ${[totals, weights, shares, posted].map((rows) => rows.at(-1)?.join(', ')).join('; ')}`);
    } finally {
      await engine.dispose();
      source.stop();
    }
  }
  const share = windowSeconds / (windowSeconds + latency);
  writeSection(
    title,
    [
      ...services.heading,
      '',
      `${records}; limits of the specification in a rolling window of ${windowSeconds} s; every answer takes ${latencyMs} ms more (median of`,
      `a page: ${fixed(latency * 1000, 0)} ms).`,
      '',
      ...(load.server ?? []),
      'The bound is the largest over all actions of (least weight / limit - 1) × window. The least weight is one for each default page of a',
      'list, and for vetledger one write for each prepayment; the others only read. Time is from the first to the last request as the',
      `server sees them, the aim at most ${load.aim} of the bound; the process outside of it stands apart, the aim at most 5 s.`,
      '',
      table(
        ['engine', '429s', 'bound, s', 'first to last request, s', 'over the bound', 'process outside of it, s'],
        totals,
      ),
      '',
      'Weight of each list over the least. The aims for vetledger are 1.02 for invoices and payments, and 1.10 for rows. It reads prepayments',
      'three times, for the list, before and after each is written; the aim is 3.1.',
      '',
      table(['engine', ...lists], weights),
      '',
      'Share of the budget used while there is work: the time in which that weight could have been granted, over the time from the first',
      `to the last grant; w / (w + latency) is ${fixed(share, 3)}, and the aim 0.98 of it ${fixed(0.98 * share, 3)}. A list that fits into one window has none.`,
      'Prepayments count until vetledger writes the first one.',
      '',
      table(['engine', ...lists], shares),
      '',
      "vetledger's entries, by their times in PostgreSQL. The pull ends with the last request for invoices, rows or payments. The aims are",
      'the first entry of an invoice within 30 s or before the second page of their list, and 40 % of all entries at half of the pull.',
      '',
      table(
        [
          'first entry, s',
          'first entry of an invoice, s',
          'second page of invoices, s',
          'end of the pull, s',
          'entries at half of it',
          'entries at its end',
          'last entry, s',
          'first write, s',
          'last write, s',
        ],
        posted,
      ),
    ].join('\n'),
  );
}

function totalsOf(marks: Mark[], name: EngineName, { counts, settings }: Source, seconds: number): (string | number)[] {
  const writes = name === 'vetledger' ? counts.unallocatedpayment : 0;
  const defaultPageSize = settings.quirks?.defaultPageSize ?? usualPageSize;
  const bound = boundSeconds(counts, settings.rateWindowSeconds, { writes, defaultPageSize });
  const took = spanSeconds(marks);
  return [
    sumOf(marks, 'throttled'),
    fixed(bound, 1),
    fixed(took, 1),
    bound > 0 ? fixed(took / bound, 3) : '–',
    fixed(seconds - took, 1),
  ];
}

function weightsOf(marks: Mark[], { counts }: Source, defaultPageSize: number): string[] {
  return lists.map((list) => {
    const weight = sumOf(marks, 'weight', [`${list}.list`]);
    return `${count(weight)} (${fixed(weight / leastWeight(counts, list, defaultPageSize), 3)})`;
  });
}

/** The times at which entries were posted, in seconds since the first request. */
async function postedOf(marks: Mark[], entries: NonNullable<Engine['entries']>): Promise<string[]> {
  const granted = marks.filter(({ weight }) => weight > 0);
  const first = granted[0]!.at;
  const after = (at: number | undefined) => (at === undefined ? '–' : fixed((at - first) / 1000, 1));
  const times = (action: string) => granted.filter((mark) => mark.action === action).map(({ at }) => at);
  const pullEnd = Math.max(...['invoice.list', 'invoicerow.list', 'invoicepayment.list'].flatMap(times));
  const writes = times('unallocatedpayment.partial_update');
  const all = await entries();
  const postedBy = (at: number) =>
    `${fixed((100 * all.filter((entry) => entry.at <= at).length) / Math.max(1, all.length), 0)} %`;
  return [
    after(all[0]?.at),
    after(all.find(({ kind }) => kind === 'invoice')?.at),
    after(times('invoice.list')[1]),
    after(pullEnd),
    postedBy((first + pullEnd) / 2),
    postedBy(pullEnd),
    after(all.at(-1)?.at),
    after(writes[0]),
    after(writes.at(-1)),
  ];
}
