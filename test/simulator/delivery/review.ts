// Compares the ERP's books with the delivered entries after people have changed entries manually.

import type { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import { transactionsOf } from '../../../src/db/lease.ts';
import type { Db } from '../../../src/db/pool.ts';
import { readBooks } from '../../../src/erp/books/read-erp-books.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import { checkErpBooks } from '../../../src/reconcile/e7-erp.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import { query } from '../../support/sql.ts';
import type { LifeErp } from './erp.ts';

export interface ReviewPorts {
  db: Db;
  databaseId: string;
  target: ErpTarget;
  time: SimulatedTime;
  erp: LifeErp;
  rng: Rng;
  installations: readonly InstallationConfig[];
  tell(line: string): void;
}

/** After this time, a reading finds the changes since the last one. */
const laterMs = 7_200_000;

/** Returns the differences that the comparison (E7) does not report, and the ones that it reports without reason. */
export async function reviewBooks(ports: ReviewPorts): Promise<string[]> {
  const { erp, rng, time, tell } = ports;
  const wrong: string[] = [];
  const before = await named(ports, true);
  // Units that were refused because the ERP changed their entry: the comparison reports this entry.
  const expected = await differing(ports);
  for (const [document, message] of before) {
    if (!expected.has(document)) wrong.push(`E7 names ${document} (${message}), which nobody has touched`);
  }
  await time.sleep(laterMs);
  const untouched = erp.judged
    .held()
    .filter((entry) => entry.state === 'posted' && !before.has(documentOf(entry.unitId)));
  const touched = erp.tamper(rng, untouched);
  if (touched.size === 0) return wrong;
  await time.sleep(laterMs);
  const after = await named(ports, rng.chance(0.3));
  for (const [unitId, what] of touched) {
    tell(`by hand: ${what} of ${unitId}`);
    if (!after.has(documentOf(unitId))) wrong.push(`E7 does not name ${unitId}, of which somebody changed ${what}`);
  }
  const changed = new Set([...touched.keys()].map(documentOf));
  for (const [document, message] of after) {
    if (!before.has(document) && !changed.has(document))
      wrong.push(`E7 names ${document} (${message}), which nobody has changed`);
  }
  return wrong;
}

/** Converts `4711/invoice/5/1` to E7's name `invoice 5`. In a life, no two installations share a document id. */
function documentOf(unitId: string): string {
  const [, kind, id] = unitId.split('/');
  return `${kind} ${id}`;
}

/** The documents that E7 reports for all installations, with the message. */
async function named(ports: ReviewPorts, full: boolean): Promise<Map<string, string>> {
  const { db, databaseId, target } = ports;
  const found = new Map<string, string>();
  for (const { id, mapping, decimals } of ports.installations) {
    const { signal } = new AbortController();
    const installation = { id, mapping, decimals };
    const reading = { db, transact: transactionsOf(db), databaseId, target, installation, ownedAccounts: [], signal };
    const { balances } = await readBooks({ ...reading, onProgress: () => undefined }, { full });
    const books = { id, decimals, company: '', ownedAccounts: [], balances };
    const { equation } = await checkErpBooks(db, books);
    for (const { document, message } of equation.documents) {
      // A copy is a separate entry that names its original.
      const copied = /^ERP entry .* of our entry \S+ \((\S+)\)/.exec(`${document} ${message}`)?.[1];
      found.set(copied === undefined ? document : documentOf(copied), message ?? '');
    }
  }
  return found;
}

async function differing({ db, installations }: ReviewPorts): Promise<Set<string>> {
  const units = await query<{ id: string }>(
    db,
    `select unit_id as id from erp_unit where installation = any(?::bigint[]) and problem_code = 'erp_differs'`,
    [installations.map(({ id }) => id)],
  );
  return new Set(units.map(({ id }) => documentOf(id)));
}
