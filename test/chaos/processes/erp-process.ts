// Runs the fake ERP as a process: `node erp-process.ts SETTINGS`. It saves its books to a file before it answers, so
// that a killed process continues from there. Messages set the share of requests that fail.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rng } from '../../../sandbox/src/rng.ts';
import { ErpError, type ErpTarget } from '../../../src/erp/port.ts';
import { type FakeBooks, FakeServer } from '../../erp/fake/server.ts';
import { FakeTarget } from '../../erp/fake/target.ts';
import { realTime } from '../../erp/fake/time.ts';
import { decoded, encoded, hurriedRecord, type WireAnswer } from './erp-wire.ts';

export interface ErpSettings {
  port: number;
  record: string;
  /** The file of the ERP's books. */
  books: string;
  seed: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ErpSettings;
const rng = new Rng(settings.seed, 'erp');
const faultRng = new Rng(settings.seed, 'erp faults');
const server = new FakeServer({
  record: hurriedRecord(settings.record),
  time: realTime,
  random: () => rng.next(),
  ...(existsSync(settings.books) ? { books: decoded(readFileSync(settings.books, 'utf8')) as FakeBooks } : {}),
});
const network = () => ({ outMs: 0, workMs: 10, backMs: 0, fault: 'none' as const });
const target = new FakeTarget({ server, network });
const methods: Record<string, (...args: never[]) => Promise<unknown>> = {
  ...{
    find: target.find,
    keyed: target.keyed,
    create: target.create,
    post: target.post,
    withdrawDrafts: target.withdrawDrafts,
  },
  ...{ read: target.read, periods: target.periods },
  ...target.matching,
};
let faults = 0;
let saved = '';

/** Saves the books if they have changed. */
function save(): void {
  const books = encoded(server.books());
  if (books === saved) return;
  writeFileSync(`${settings.books}.new`, books);
  renameSync(`${settings.books}.new`, settings.books);
  saved = books;
}

async function answerTo(method: string, body: string, signal: AbortSignal): Promise<WireAnswer> {
  const perform = methods[method];
  if (!perform) throw new Error(`no method ${method}`);
  const args = decoded(body) as object[];
  const request = { ...args.pop(), signal };
  try {
    return { result: await perform.apply(target as ErpTarget as never, [...args, request] as never[]) };
  } catch (error) {
    if (!(error instanceof ErpError)) throw error;
    const { means, message, problem, keys, retryAfterMs } = error;
    return { error: { means, message, problem, keys, retryAfterMs } };
  }
}

type Fault = 'none' | 'refused' | 'lost' | 'cut' | 'slow' | 'slow answer' | 'broken';

async function handle(method: string, body: string, until: number, response: ServerResponse): Promise<void> {
  const fault: Fault = faultRng.chance(faults)
    ? faultRng.pick<Fault>(['refused', 'lost', 'cut', 'slow', 'slow answer', 'broken'])
    : 'none';
  if (fault === 'refused') return end(response, 500, 'Internal Server Error');
  if (fault === 'slow') await sleep(faultRng.int(200, 2_000));
  // A request that arrived too late may or may not have an effect; the client must not rely on either.
  if (Date.now() > until) return end(response, 503, 'too late');
  const answer = encoded(await answerTo(method, body, AbortSignal.timeout(60_000)));
  save();
  if (fault === 'slow answer') await sleep(faultRng.int(500, 3_000));
  if (fault === 'lost') return void response.socket?.destroy();
  if (fault === 'broken') return end(response, 502, '<html>Bad Gateway</html>');
  end(response, 200, fault === 'cut' ? answer.slice(0, answer.length / 2) : answer);
}

function end(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status).end(body);
}

const http = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const until = Number(request.headers['x-effect-until'] ?? Number.POSITIVE_INFINITY);
    handle((request.url ?? '/').slice(1), body, until, response).catch((error: unknown) => {
      process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      end(response, 500, 'the fake failed');
    });
  });
});
process.on('message', ({ serial, argument }: { serial: number; argument: number }) => {
  faults = argument;
  const misdeeds = server.misdeeds.filter(({ about }) => about === 'content').map(({ text }) => text);
  process.send?.({ serial, result: misdeeds });
});
process.on('disconnect', () => process.exit(0));
http.listen(settings.port, '127.0.0.1', () => process.send?.({ ready: true }));
