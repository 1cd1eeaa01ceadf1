// The world of an installation's life: a clinic, its staff, its servers, and the ERP.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { Rng } from '../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { erpSection } from '../chaos/processes/erp-wire.ts';
import { demoMapping } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { SimulatedDatabase, simulateClock } from './database.ts';
import { installationOf } from './delivery/installation.ts';
import { ErpWay } from './erp-way.ts';
import { Hostility, prepareRefusals } from './hostility.ts';
import { baseUrl, SimulatedPractice } from './practice.ts';
import { simulateTimers } from './process.ts';
import { Staff } from './staff.ts';
import { type Databases, Stage } from './stage.ts';
import type { Traits } from './traits.ts';

const scrubDays = 0.05;

const mapping = readMapping();

/** Prepares a database for lives. */
export async function prepareDatabase({ owner }: Pick<Databases, 'owner'>): Promise<void> {
  await simulateClock(owner);
  await prepareRefusals(owner);
}

/** Opens the databases of lives. */
export function openDatabases({ url, ownerUrl }: { url: string; ownerUrl: string }) {
  return { owner: openDatabase(ownerUrl), simulated: new SimulatedDatabase(url) };
}

export class World extends Stage {
  readonly traits: Traits;
  readonly installation: InstallationConfig;
  readonly practice: SimulatedPractice;
  readonly staff: Staff;
  readonly hostility: Hostility;
  readonly erp: ErpWay | null;
  /** Decides the faults on the way to the clinic and to the ERP. */
  readonly network: Rng;
  /** Deleted documents that the accountant confirmed as gone. */
  readonly confirmed = new Set<string>();
  /** The last closed day of the books. */
  closedThrough: string | null = null;

  /** `n` must be different for each life in a database. */
  constructor(databases: Databases, seed: number, n: number, traits: Traits) {
    super(databases, seed, traits.startMs);
    this.traits = traits;
    this.network = new Rng(seed, 'network');
    simulateTimers();
    const { time } = this;
    const { erp, ...base } = installationOf(n, n);
    this.installation = {
      ...{ ...base, erp: traits.erp === null ? { kind: 'ledger' } : erp, mapping, baseUrl },
      dialect: { ...base.dialect, installation: n },
      ...{ overlapSeconds: traits.overlapMs / 1_000, keepRaw: 'all', scrubDays, scrubMinShare: 0.1 },
    };
    this.practice = new SimulatedPractice({
      ...{ seed, installation: n, invoices: traits.invoices, time, rng: new Rng(seed, 'practice') },
      ...{ quirks: traits.quirks, inSeconds: traits.inSeconds, dateSkewMs: traits.dateSkewMs },
      latencyMs: traits.latencyMs,
    });
    this.practice.connectionFaults = traits.practiceFaults;
    this.staff = new Staff(this.practice.clinic, new Rng(seed, 'staff'), time);
    this.hostility = new Hostility({
      ...{ practice: this.practice, owner: databases.owner, installation: n, rng: new Rng(seed, 'hostility') },
      tell: (line) => this.tell(line),
    });
    this.erp = traits.erp === null ? null : new ErpWay(this, traits.erp);
  }

  /** Makes the next window count the lists. */
  async countNext(): Promise<void> {
    const sql = 'update installation_state set census_taken_at = null where installation = ?';
    await this.outside(() => query(this.databases.owner, sql, [this.installation.id]));
  }
}

function readMapping(): InstallationConfig['mapping'] {
  const parsed = parseMapping(parse(readFileSync(demoMapping, 'utf8') + erpSection));
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  return parsed.mapping;
}
