import { statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TrytonServer } from '../../../scripts/tryton/server.ts';
import { hasTryton, openTestTryton } from '../../support/tryton.ts';

describe.skipIf(!hasTryton)(
  'the demo’s Tryton',
  () => {
    let tryton: TrytonServer;
    beforeAll(async () => {
      tryton = await openTestTryton();
    }, 120_000);
    afterAll(() => tryton.release());

    test('its users can log in, with passwords that only their owner can read', async () => {
      for (const user of Object.values(tryton.users)) expect(await logIn(tryton.database, user)).toBe(true);
      expect(await logIn(tryton.database, { user: 'vetledger', password: 'wrong' })).toBe(false);
      expect(statSync(tryton.passwordFile).mode & 0o777).toBe(0o600);
    });

    test('a new database is served', async () => {
      await tryton.newDatabase('second');
      expect(await logIn('second', tryton.users.api)).toBe(true);
      await expect(tryton.newDatabase('second')).rejects.toThrow('exists already');
    });

    test('it can be killed and started again on the same port', async () => {
      await tryton.kill();
      await expect(logIn(tryton.database, tryton.users.api)).rejects.toThrow();
      await tryton.start();
      expect(await logIn(tryton.database, tryton.users.api)).toBe(true);
    });

    async function logIn(database: string, { user, password }: { user: string; password: string }): Promise<boolean> {
      const answer = await fetch(`${tryton.url}/${database}/rpc/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 1, method: 'common.db.login', params: [user, { password }, 'en'] }),
      });
      if (answer.status === 401) return false;
      return 'result' in ((await answer.json()) as object);
    }
  },
  60_000,
);
