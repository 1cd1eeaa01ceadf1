// Sends a thousand seeded hostile requests: no 5xx, no hang, no stack trace, and no changed record.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/index.ts';
import { Rng } from '../../src/rng.ts';
import { hostile, kindNames } from './requests.ts';

const requests = 1000;
const limitMs = 5000;
const unansweredMs = 500;
const quietMs = 60;
/** The kinds whose requests may be incomplete. */
const unfinished = ['lengths', 'chunked'];

/**
 * Sends bytes on a connection and returns the answer. If the request may be incomplete, the test closes the connection
 * after a while.
 */
const exchange = (port: number, bytes: Buffer, isUnfinished: boolean): Promise<{ text: string; isLate: boolean }> =>
  new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let isLate = false;
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const late = setTimeout(() => {
      isLate = true;
      socket.destroy();
    }, limitMs);
    let quiet = setTimeout(() => socket.end(), isUnfinished ? unansweredMs : limitMs * 2);
    socket.on('data', (piece) => {
      pieces.push(piece);
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), quietMs);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(late);
      clearTimeout(quiet);
      resolve({ text: Buffer.concat(pieces).toString('latin1'), isLate });
    });
  });

/** A digest of every record, department and next id of the clinic. */
const digest = ({ clinic }: Sandbox): string => {
  const tables = [...clinic.tables].map(([name, table]) => [name, table.nextId, table.all()]);
  return createHash('sha256')
    .update(JSON.stringify([tables, [...clinic.departments.values()], clinic.vatGroups]))
    .digest('hex');
};

describe.each([false, true])('strict mode %s', (strict) => {
  test(`${requests} hostile requests`, { timeout: 120_000 }, async () => {
    const sandbox = await startSandbox({ invoices: 40, rateWindowSeconds: 0, quirks: { strict } });
    try {
      const before = digest(sandbox);
      const rng = new Rng(7, 'hostile');
      const sent = Array.from({ length: requests }, (_, n) => {
        const kind = kindNames[n % kindNames.length] as (typeof kindNames)[number];
        return { n, kind, bytes: hostile(rng, kind) };
      });
      const wrong: string[] = [];
      const statuses = new Map<string, number>();
      const one = async ({ n, kind, bytes }: (typeof sent)[number]): Promise<void> => {
        const { text, isLate } = await exchange(sandbox.port, bytes, unfinished.includes(kind));
        const found = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status as string);
        for (const status of found) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const isBad =
          isLate ||
          (found.length === 0 && !unfinished.includes(kind)) ||
          found.some((status) => status >= '500') ||
          /\.ts:\d|node_modules|\n {4}at |file:\/\//.test(text);
        if (isBad)
          wrong.push(
            `${n} ${kind}: ${bytes.toString('latin1').slice(0, 300)}\n→ ${isLate ? 'hangs' : text || 'nothing'.slice(0, 500)}`,
          );
      };
      const waiting = [...sent];
      const worker = async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) await one(next);
      };
      await Promise.all(Array.from({ length: 32 }, worker));
      expect(wrong).toEqual([]);
      expect(digest(sandbox)).toBe(before);
      // Most connections must get an answer, and most answers must be refusals.
      const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      expect(total).toBeGreaterThan(requests);
      expect(statuses.get('400')).toBeGreaterThan(requests / 3);
      const authorization = `Bearer ${sandbox.token}`;
      const answer = await fetch(`${sandbox.url}/4711/api/0.1/client/`, { headers: { authorization } });
      expect(answer.status).toBe(200);
    } finally {
      await sandbox.stop();
    }
  });
});
