// Judges the result of a round: the books against the oracle and against an undisturbed run, the ERP's books against
// ours, the source's write-backs, and unfinished work. It reads the ERP's books and the clinic from their files,
// without the tested code.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clinic, startSandbox } from '../../../sandbox/src/index.ts';
import { type InstallationConfig, loadConfig } from '../../../src/config/load-config.ts';
import { type Db, openDatabase } from '../../../src/db/pool.ts';
import { verifyChain } from '../../../src/ledger/verify.ts';
import { reconcileWithSource } from '../../../src/queries/reconcile.ts';
import { openApp } from '../../../src/runtime/app.ts';
import type { FakeBooks, HeldEntry } from '../../erp/fake/server.ts';
import { leftBehind, wrongInErp, wrongWriteBacks } from '../../simulator/judge.ts';
import { WindowRunner } from '../../simulator/windows.ts';
import { demoConfig, fromEnvironment } from '../../support/demo-config.ts';
import { wrongBooks } from '../../support/expected-books.ts';
import { query } from '../../support/sql.ts';
import { decoded } from './erp-wire.ts';
import type { RoundDatabase } from './services.ts';

/** The installation of every round. */
export const installation = 4711;

export interface Outcome {
  /** The round's books, with the owner of the tables. */
  db: Db;
  databaseUrl: string;
  undisturbed: RoundDatabase;
  folder: string;
  mapping: string;
  token: string;
  /** The file of the clinic. */
  state: string;
  /** The file of the ERP's books; null if nothing is delivered. */
  books: string | null;
  seed: number;
  clockAheadMs: number;
}

const mostTold = 8;
const undisturbedWindows = 2;

export async function judge(outcome: Outcome): Promise<string[]> {
  const { db, mapping } = outcome;
  const copy = join(outcome.folder, 'undisturbed.state');
  copyFileSync(outcome.state, copy);
  const sandbox = await startSandbox({
    ...{ stateFile: copy, rateWindowSeconds: 1, token: outcome.token, seed: outcome.seed },
    now: () => new Date(Date.now() + outcome.clockAheadMs),
  });
  const wrong: string[] = [];
  const held = outcome.books === null ? null : heldIn(outcome.books);
  try {
    const disturbed = await openedApp(outcome, sandbox.url, outcome.databaseUrl);
    try {
      const [{ timezone, decimals, startDate }] = disturbed.config.installations as [InstallationConfig];
      const setting = { installation, timezone, decimals, startDate, mapping };
      wrong.push(...(await wrongBooks(db, sandbox.clinic, setting)).map((one) => `the books: ${one}`));
      wrong.push(...(await wrongPrepaymentClients(db, sandbox.clinic)));
      wrong.push(...(await wrongWriteBacks(db, installation, held, sandbox.clinic.prepayments.all())));
      const { installations } = await reconcileWithSource(disturbed, disturbed.config.installations, () => undefined);
      for (const [name, { ok, documents }] of installations.flatMap((one) => Object.entries(one.equations)))
        if (!ok) wrong.push(`reconcile: ${name}, ${documents[0]?.message ?? 'a difference'}`);
      const broken = await verifyChain(db, installation);
      if (broken !== null) wrong.push(`ledger verify: ${JSON.stringify(broken)}`);
    } finally {
      await disturbed.close();
    }
    // The comparison comes last, because its windows write back too.
    wrong.push(...(await differencesFromUndisturbed(outcome, sandbox.url)));
  } finally {
    await sandbox.stop();
  }
  if (held !== null) wrong.push(...(await wrongInErp(db, installation, held)));
  wrong.push(...(await leftBehind(db, installation)));
  return wrong.length > mostTold ? [...wrong.slice(0, mostTold), `and ${wrong.length - mostTold} more`] : wrong;
}

function heldIn(books: string): HeldEntry[] {
  return (decoded(readFileSync(books, 'utf8')) as FakeBooks).entries;
}

async function openedApp({ folder, mapping, token }: Outcome, sandboxUrl: string, databaseUrl: string) {
  const file = join(folder, 'judge.yaml');
  const settings = { id: installation, base_url: sandboxUrl, mapping, rate_window_seconds: 1, overlap_seconds: 60 };
  writeFileSync(file, demoConfig([settings], { database_url: fromEnvironment('DATABASE_URL') }));
  const env = { ...process.env, PRACTICE_TOKEN: token, DATABASE_URL: databaseUrl, VETLEDGER_LOG: 'silent' };
  const config = await loadConfig(file, env);
  return openApp(config, { temporal: false, progress: () => undefined, env });
}

/** If a payment is matched, the liability must be that of the client whose prepayment it really used. */
async function wrongPrepaymentClients(db: Db, clinic: Clinic): Promise<string[]> {
  const posted = await query<{ payment: string; party: string }>(
    db,
    `select e.document_id as payment, l.party_code as party from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = 'payment' and l.role = 'prepayment_liability' and e.reverses is null
       and not exists (select from entry r where r.reverses = e.id)
       and exists (select from prepayment_match m where m.installation = e.installation and m.payment_id = e.document_id)`,
    [installation],
  );
  return posted.flatMap(({ payment, party }) => {
    const used = clinic.invoicePayments.get(Number(payment))?.prepayment;
    const client = used == null ? undefined : clinic.prepayments.get(used)?.client;
    return client === undefined || party === `client:${client}`
      ? []
      : [`payment ${payment} uses a prepayment of ${party}; the clinic says client:${client}`];
  });
}

/**
 * The entries in force with everything that is posted for a document, one text per line, without times of recording.
 */
const inForce = `
  select e.kind || '/' || e.document_id as document, concat_ws(' · ', e.entry_date, e.document_date, e.posting_mode, l.account,
    l.role, l.side, trim_scale(l.amount), l.party_code, l.party_vat_number, l.party_country_code, l.department_id,
    coalesce(l.dimension_1, '-'), coalesce(l.dimension_2, '-'), coalesce(l.dimension_3, '-'), l.invoice_id, l.payment_type,
    l.document_number, l.due_date, l.bank_reference, l.vat_group, l.vat_rate, trim_scale(l.vat_base)) as line
  from entry e join entry_line l on l.entry_id = e.id
  where e.installation = ? and e.reverses is null and not exists (select from entry r where r.reverses = e.id)
  order by 1, 2`;

/** Posts the clinic's current records into new books, without disturbances, and compares. */
async function differencesFromUndisturbed(outcome: Outcome, sandboxUrl: string): Promise<string[]> {
  const app = await openedApp(outcome, sandboxUrl, outcome.undisturbed.url);
  const owner = openDatabase(outcome.undisturbed.ownerUrl, { max: 1 });
  try {
    const installations = new Map(app.config.installations.map((one) => [one.id, one]));
    const runner = new WindowRunner(
      {
        ...{ db: app.db, log: app.log, installations, practice: app.practice, clock: app.clock, sealKey: null },
        workflows: { getHandle: () => ({ signal: async () => undefined }) } as never,
      },
      installation,
    );
    for (let n = 0; n < undisturbedWindows; n++) {
      const { outcome: end, error } = await runner.run({ limitMs: 120_000 });
      if (end !== 'closed') return [`the undisturbed run ${end}: ${error?.message}`];
    }
    const unmatched = new Set([...(await unmatchedIn(outcome.db)), ...(await unmatchedIn(owner))]);
    return differencesOf(await linesOf(outcome.db, unmatched), await linesOf(owner, unmatched));
  } finally {
    await owner.destroy();
    await app.close();
  }
}

/**
 * Payments with an undetermined prepayment. Their liability has the client of their invoice when they were first posted
 * (ACCOUNTING R7), which depends on when that was.
 */
async function unmatchedIn(db: Db): Promise<string[]> {
  const found = await query<{ document: string }>(
    db,
    `select distinct e.kind || '/' || e.document_id as document
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = 'payment' and l.role = 'prepayment_liability' and not exists (
       select from prepayment_match m where m.installation = e.installation and m.payment_id = e.document_id)`,
    [installation],
  );
  return found.map(({ document }) => document);
}

/** The lines in force by document. The liability of an unmatched payment is compared without its client. */
async function linesOf(db: Db, unmatched: ReadonlySet<string>): Promise<Map<string, string>> {
  const lines = (await query<{ document: string; line: string }>(db, inForce, [installation])).map(
    ({ document, line }) => ({
      document,
      line:
        unmatched.has(document) && line.includes(' · prepayment_liability · ')
          ? line.replace(/ · client:\d+ · /, ' · client:? · ')
          : line,
    }),
  );
  const byDocument = Map.groupBy(lines, ({ document }) => document);
  return new Map([...byDocument].map(([document, its]) => [document, its.map(({ line }) => line).join('\n  ')]));
}

function differencesOf(disturbed: Map<string, string>, undisturbed: Map<string, string>): string[] {
  const wrong: string[] = [];
  for (const document of new Set([...disturbed.keys(), ...undisturbed.keys()])) {
    const [ours, theirs] = [disturbed.get(document), undisturbed.get(document)];
    if (ours === theirs) continue;
    wrong.push(`${document} is\n  ${ours ?? 'not posted'}\nand undisturbed\n  ${theirs ?? 'not posted'}`);
  }
  return wrong;
}
