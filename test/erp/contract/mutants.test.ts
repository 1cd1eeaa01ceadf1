import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';

/** For each mutant, the record on which it shows and the case that must fail. */
const mutants: Record<string, [record: string, failing: string]> = {
  'an error read as "nothing was created"': [
    'asynchronous',
    'a request to create with the trouble «answer_lost» loses and doubles nothing',
  ],
  'an incomplete look-up read as absence': ['asynchronous', 'an incomplete look-up proves no absence'],
  'a look-up before the server can be done': [
    'asynchronous',
    'a request to create that takes effect when nobody waits for it any more loses and doubles nothing',
  ],
  'a success code believed without read-back': [
    'asynchronous',
    'a success is not believed: what the ERP made otherwise is refused, and corrected by nothing',
  ],
  'a known id written to again': [
    'odoo',
    'a request to create with the trouble «answer_lost» loses and doubles nothing',
  ],
  'a repeated request with a new id': [
    'netvisor',
    'a request to create with the trouble «answer_lost» loses and doubles nothing',
  ],
  'a refused entry that blocks its batch': [
    'tryton',
    'an entry that the ERP refuses leaves the rest of its batch delivered',
  ],
  'a correction sent before what it corrects': ['asynchronous', 'a correction waits for what it corrects'],
};

/** Runs a case with a mutant of delivery in a separate process. Returns the failure; null if the case passes. */
async function wrongIn(mutant: string, record: string, name: string): Promise<string | null> {
  const own = await createTestDatabase();
  const worker = fork(
    fileURLToPath(new URL('./worker.ts', import.meta.url)),
    [own.url, own.ownerUrl, mutant, record, name],
    { execArgv: [] },
  );
  try {
    const ended = once(worker, 'exit').then(([code]) => {
      throw new Error(`the worker ended with ${code}`);
    });
    const [{ wrong }] = (await Promise.race([once(worker, 'message'), ended])) as [{ wrong: string | null }];
    return wrong;
  } finally {
    worker.kill();
    await own.drop();
  }
}

describe('the contract fails for a delivery that loses, doubles or changes entries', () => {
  test.each(Object.entries(mutants))('%s', { timeout: 180_000 }, async (mutant, [record, name]) => {
    expect(await wrongIn(mutant, record, name)).not.toBeNull();
  });
});
