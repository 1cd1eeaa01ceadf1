import { afterAll, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { Budget, priorities } from '../../src/practice/budget.ts';
import { createPracticeClient } from '../../src/practice/client.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { RollingWindow } from '../budget/server-model.ts';
import { useDatabase } from '../support/database.ts';
import { type FakeServer, type Handler, keptLog, startServer } from '../support/practice-fakes.ts';

const windowMs = 1000;
const limit = 30;

const { db, openPool } = useDatabase();
const pools = [db, openPool()];
let server: FakeServer;

afterAll(async () => {
  await server?.close();
});

/** A server with a rolling window that also counts refused requests, as a strict one may. */
function strict(answers: { status: number }[], someoneElse: number): Handler {
  const window = new RollingWindow({ limit: limit - someoneElse, windowMs, countsRefused: true });
  return async (request, response) => {
    const weight = Math.ceil(Number(request.url.searchParams.get('page_size') ?? 50) / 50);
    const status = window.arrive(performance.now(), weight) ? 200 : 429;
    answers.push({ status });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {});
    response.end('{"count":0,"results":[]}');
  };
}

function clients(installation: number) {
  return pools.map((db) => {
    const dialect = loadDialect({ limits: { actions: { 'invoice.list': limit } } });
    const options = {
      installation,
      dialect,
      baseUrl: server.url,
      auth: staticToken('x'),
      log: keptLog(),
      clock: systemClock,
    };
    const budget = new Budget({
      db,
      installation,
      dialect,
      windowSeconds: windowMs / 1000,
      requestTimeoutSeconds: 90,
      clock: systemClock,
    });
    return { budget, client: createPracticeClient({ ...options, budget }) };
  });
}

test('two processes that send many requests never get a 429', async () => {
  const answers: { status: number }[] = [];
  server = await startServer(strict(answers, 0));
  const both = clients(1);
  const sizes = Array.from({ length: 40 }, (_, i) => (i % 8 === 0 ? 1000 : i % 3 === 0 ? 100 : null));
  await Promise.all(
    sizes.map((size, i) =>
      both[i % 2]!.client.list('invoice', {}, size, { priority: i % 4 ? priorities.backfill : priorities.live }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(sizes.map(() => 200));
  const counted = both.map(({ client }) => client.counters());
  expect(counted.reduce((sum, each) => sum + each.requests, 0)).toBe(40);
  expect(counted.reduce((sum, each) => sum + each.weight, 0)).toBe(5 * 20 + 12 * 2 + 23);
  expect(counted.every((each) => each.throttled === 0 && each.waitedMs > 1000)).toBe(true);
  for (const { client } of both) client.close();
  await server.close();
});

test('while another program uses the installation, requests slow down and succeed', async () => {
  const answers: { status: number }[] = [];
  server = await startServer(strict(answers, 12));
  const both = clients(2);
  await Promise.all(Array.from({ length: 45 }, (_, i) => both[i % 2]!.client.list('invoice', {}, null)));
  const refused = answers.filter(({ status }) => status === 429).length;
  expect(answers.length - refused).toBe(45);
  expect(refused).toBeGreaterThan(0);
  expect((await both[0]!.budget.usage())[0]!.limitNow).toBeLessThan(limit);
  for (const { client } of both) client.close();
});
