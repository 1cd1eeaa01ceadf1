import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { createPracticeClient, type PracticeClient } from '../../src/practice/client.ts';
import { canonicalJson, readJson } from '../../src/records/json.ts';
import { type RecordKind, rawKeepings, recordKinds } from '../../src/terms.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { useDatabase } from '../support/database.ts';
import { type Handler, hastyClock, keptLog, roomyBudget, startServer } from '../support/practice-fakes.ts';

/** The maximum time for which data from outside may block the process, in addition to parsing one page. */
const longestBlockMs = 200;
const mb = 1024 * 1024;

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function clientOf(...handlers: Handler[]): Promise<PracticeClient> {
  const server = await startServer(...handlers);
  const client = createPracticeClient({
    installation: 4711,
    baseUrl: server.url,
    auth: staticToken('token'),
    dialect: loadDialect(),
    budget: roomyBudget(),
    log: keptLog(),
    clock: hastyClock(),
  });
  cleanups.push(() => client.close(), server.close);
  return client;
}

/** Answers with a prepared compressed body, so that sending it costs this process almost nothing. */
function zipped(body: string): Handler {
  const bytes = gzipSync(body);
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(bytes);
  };
}

/**
 * The longest time without a turn of the event loop, and the growth of memory. It uses processor time, because on a
 * busy machine the thread also waits. The elapsed delay has a looser bound.
 */
async function costOf(work: () => Promise<unknown>): Promise<{ blockedMs: number; grownMb: number }> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 10);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let blockedMs = 0;
  let working = true;
  let usedMs = threadMs();
  const turn = () => {
    const now = threadMs();
    blockedMs = Math.max(blockedMs, now - usedMs);
    usedMs = now;
    if (working) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  turn();
  working = false;
  delay.disable();
  clearInterval(sampling);
  expect(delay.max / 1e6).toBeLessThan(10 * longestBlockMs);
  return { blockedMs, grownMb: (highest - before) / mb };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The time to parse a page at once: about 30 ms for 4 MB of usual data, some hundred for unusual data. */
function parsingMs(body: string): number {
  const started = threadMs();
  if (body.length <= 4 * mb) JSON.parse(body);
  return 2 * (threadMs() - started);
}

const page = (count: number, results: string) => `{"count":${count},"results":[${results}]}`;
const ones = (count: number) => '1,'.repeat(count).slice(0, -1);

describe('an answer that would fill the memory is refused by name, and nothing else waits for it', () => {
  test.each([
    ['63 KB of gzip that are 32 million numbers', () => page(1, ones(32_000_000)), 'larger than 4 MB'],
    ['2 million numbers where records belong', () => page(1, ones(2_000_000)), 'more than 50000 records'],
    ['a million empty records', () => page(1, '{},'.repeat(1_000_000).slice(0, -1)), 'more than 50000 records'],
  ])('%s', async (_, make, message) => {
    const body = make();
    const client = await clientOf(zipped(body));
    let refusal: unknown;
    const cost = await costOf(async () => {
      refusal = await client.list('invoice', {}, null).catch((error) => error);
    });
    expect(refusal).toMatchObject({
      code: 'answer_too_large',
      message: expect.stringContaining(message),
      todo: expect.stringContaining('record'),
    });
    expect(String(refusal)).toContain('/invoice/');
    expect(cost.blockedMs).toBeLessThan(longestBlockMs + parsingMs(body));
    expect(cost.grownMb).toBeLessThan(300);
  });

  test('a page that is too large is asked for in smaller sizes, and read', async () => {
    const record = (id: number) => `{"id":${id},"note":"${'x'.repeat(400_000)}"}`;
    const client = await clientOf(({ url }, response) => {
      const size = Number(url.searchParams.get('page_size') ?? 50);
      response.end(page(1000, Array.from({ length: size }, (_, i) => record(i + 1)).join(',')));
    });
    const answer = await client.list('invoice', {}, 1000);
    expect(answer.results.length).toBe(4);
    expect(answer.count).toBe(1000);
  });

  test('an error message of 3 MB is not read', async () => {
    const body = JSON.stringify({ detail: Array.from({ length: 600_000 }, () => 'no') });
    const client = await clientOf((_, response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' });
      response.end(gzipSync(body));
    });
    const cost = await costOf(() => client.list('invoice', {}, null).catch(() => undefined));
    expect(cost.blockedMs).toBeLessThan(longestBlockMs);
  });
});

describe('a record that is too large is recognised and keeps its name', () => {
  const deep = `${'['.repeat(1_500_000)}${']'.repeat(1_500_000)}`;
  test.each([
    ['of 3 MB', `"${'x'.repeat(3 * mb)}"`],
    ['of nothing but escapes', `"${'\\"'.repeat(1.5 * mb)}"`],
    ['of 1.5 million numbers', `[${ones(1_500_000)}]`],
    ['that is nested without end', deep],
  ])('%s', async (_, huge) => {
    const body = page(3, `{"id":1,"total":"1.00"},{"id":2,"status":3,"note":${huge},"client":5},{"id":3,"total":1.50}`);
    const client = await clientOf(zipped(body));
    let answer: Awaited<ReturnType<PracticeClient['list']>> | undefined;
    const cost = await costOf(async () => {
      answer = await client.list('invoice', {}, null);
    });
    expect(answer?.results.map(({ id }) => id)).toEqual([1, 2, 3]);
    const [before, large, after] = answer?.results.map(({ record }) => record) ?? [];
    expect(before?.defects.map(({ code }) => code)).not.toContain('record_too_large');
    expect(after).toMatchObject({ total: expect.objectContaining({ s: 1 }) });
    expect(large).toMatchObject({ status: 3, clientId: 5 });
    expect(large?.defects[0]).toMatchObject({
      code: 'record_too_large',
      field: 'the record',
      message: expect.stringContaining('without note'),
    });
    expect(JSON.stringify(answer?.results[1]?.value).length).toBeLessThan(2_000);
    expect(cost.blockedMs).toBeLessThan(longestBlockMs + parsingMs(body));
  });
});

const { db } = useDatabase();

test.each(rawKeepings)(
  'a page of 1,000 huge records is stored without holding anything up, keep_raw: %s',
  async (keepRaw) => {
    const filler = (id: number) => `"${String(id).repeat(1_000).slice(0, 1_000)}",`.repeat(2);
    const records = (amount: string) =>
      Array.from({ length: 1_000 }, (_, i) => `{"id":${i + 1},"paid":${amount},"notes":[${filler(i)}${ones(900)}]}`);
    const pages = ['1.50', '2.5e0'].map((amount) => page(1_000, records(amount).join(',')));
    const client = await clientOf(...pages.map(zipped));
    // The driver and the hashes also process 4 MB at once.
    const boundMs = 2 * longestBlockMs + Math.max(...pages.map(parsingMs));
    const scope = {
      installation: keepRaw === 'all' ? 1 : 2,
      timezone: 'Europe/Helsinki',
      dialect: loadDialect(),
      keepRaw,
    };
    for (const round of [1, 2]) {
      let pulled = 0;
      const cost = await costOf(async () => {
        const answer = await client.list('prepayment', {}, 1_000);
        await db.transaction(async (trx) => {
          const { sourceTime, answeredAt } = { sourceTime: new Date(round * 1e12), answeredAt: new Date(round * 1e12) };
          ({ pulled } = await savePage(trx, scope, 'prepayment', { ...answer, sourceTime, answeredAt }));
        });
      });
      expect(pulled).toBe(1_000);
      expect(cost.blockedMs).toBeLessThan(boundMs);
    }
  },
);

/** Texts that are slow for patterns with backtracking, or for work by characters. */
const slowTexts = ['a://:', 'Bearer ', 'a', '\u0316\u0300', '\ud800', '\0', '\\"', '<', '1', '/1', '👩‍👩‍👧'];

/** A record with such a text in each mapped field, and in an unmapped one. */
function slowRecord(kind: RecordKind, id: number, length: number): string {
  const { fields } = loadDialect();
  const names = Object.entries(fields[kind]).filter(([name]) => name !== 'id' && name !== 'invoice');
  const each = Math.floor(length / (names.length + 1));
  const text = (n: number) => {
    const unit = slowTexts[n % slowTexts.length]!;
    // The length counts bytes on the wire, where escapes are long.
    return `${unit.repeat(each / (Buffer.byteLength(JSON.stringify(unit)) - 2))}x`;
  };
  const members = names.map(([, field], n) => [field.split('.')[0], text(id + n)] as const);
  return JSON.stringify({ ...Object.fromEntries(members), unmapped: text(id), id, invoice: id });
}

test.each(
  recordKinds.flatMap((kind): [RecordKind, number, number][] => [
    [kind, 1_000, 3_000],
    [kind, 9, 400_000],
  ]),
)(
  'a page of %ss: %i records whose fields are slow to read, %i bytes each, hold nothing up',
  async (kind, count, length) => {
    const records = Array.from({ length: count }, (_, n) => slowRecord(kind, n + 1, length));
    const body = page(count, records.join(','));
    const client = await clientOf(zipped(body));
    const scope = {
      installation: 10 + count,
      timezone: 'Europe/Helsinki',
      dialect: loadDialect(),
      keepRaw: 'all',
    } as const;
    const cost = await costOf(async () => {
      const answer = await client.list(kind, {}, 1_000);
      expect(answer.results.length).toBe(count);
      await db.transaction(async (trx) => {
        await savePage(trx, scope, kind, { ...answer, sourceTime: new Date(1e12), answeredAt: new Date(1e12) });
      });
    });
    expect(cost.blockedMs).toBeLessThan(longestBlockMs + parsingMs(body));
  },
);

test.each([
  ['many zeros', `[${Array.from({ length: 400 }, () => `1${'0'.repeat(900)}1`).join(',')}]`],
  ['400,000 digits', `[1${'0'.repeat(400_000)}1]`],
  ['an exponent of 400,000 digits', `[1e${'7'.repeat(400_000)}]`],
])('a number of %s costs no more than others', (_, many) => {
  const started = threadMs();
  canonicalJson(readJson(many));
  expect(threadMs() - started).toBeLessThan(longestBlockMs);
});

let clinic: TestClinic | null = null;
afterEach(async () => {
  await clinic?.stop();
  clinic = null;
});

test('a clinic with one invoice of 3 MB: it is held by name, everything else is posted', async () => {
  clinic = await startTestClinic({ seed: 9, invoices: 60 });
  const victim = clinic.sandbox.clinic.invoices.all().find(({ status, total }) => status === 3 && Number(total) !== 0);
  if (victim === undefined) throw new Error('the clinic has no final invoice');
  victim.additional_reference = 'x'.repeat(3 * mb);
  const report = await clinic.sync();
  expect(report.error ?? null).toBeNull();
  const held = await clinic.rows<{ kind: string; id: number; problem_code: string; problem_message: string }>(
    `select kind, id, problem_code, problem_message from document where problem_code = 'record_too_large' and kind = 'invoice'`,
  );
  expect(held).toMatchObject([{ id: victim.id, problem_message: expect.stringContaining('additional_reference') }]);
  const posted = await clinic.rows<{ n: number }>(`select count(*) as n from document where state = 'posted'`);
  expect(posted[0]?.n).toBeGreaterThan(50);
});
