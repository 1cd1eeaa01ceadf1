// Runs `repost` in a test with a mirrored clinic.
import type { RemappedDocument } from '../../src/bookkeeping/preview.ts';
import { repost } from '../../src/bookkeeping/repost.ts';
import type { Db } from '../../src/db/pool.ts';
import { type DocumentSelection, everything } from '../../src/documents/in-force.ts';
import type { PracticeClient } from '../../src/practice/client.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { MirroredClinic } from './mirrored-clinic.ts';

/** A practice API of which only lock dates are requested; there are none. */
const practice = { departmentSettings: async () => ({ lockDate: null }) } as unknown as PracticeClient;

/** Posts what the clinic's mapping requires. Returns the outcomes by document, such as `payment/12`. */
export async function repostAll(
  db: Db,
  { installation }: MirroredClinic,
  selection: DocumentSelection = everything,
): Promise<Map<string, RemappedDocument['remap']['outcome']>> {
  const { signal } = new AbortController();
  const options = { selection, signal, clock: systemClock, waitSeconds: 0, onWait: () => undefined };
  const outcomes = new Map<string, RemappedDocument['remap']['outcome']>();
  for await (const batch of repost(db, installation, practice, options))
    for (const { document, remap } of batch) outcomes.set(`${document.kind}/${document.id}`, remap.outcome);
  return outcomes;
}
