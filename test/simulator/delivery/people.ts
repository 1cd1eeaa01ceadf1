// Actions of people in a life of deliveries: they close and open the ERP, change rights in it, and retry refused
// entries.

import type { Rng } from '../../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../../src/config/load-config.ts';
import type { Db } from '../../../src/db/pool.ts';
import { retryUnits } from '../../../src/erp/outbox/state.ts';
import type { Stage } from '../stage.ts';
import type { LifeErp } from './erp.ts';
import type { Oracle } from './oracle.ts';
import { dates } from './plan.ts';

const hourMs = 3_600_000;

export interface PeoplePorts {
  stage: Stage;
  erp: LifeErp;
  rng: Rng;
  installations: readonly InstallationConfig[];
  db(): Db;
  /** Informs the processes about new work. */
  wake(): void;
}

export class People {
  readonly #ports: PeoplePorts;

  constructor(ports: PeoplePorts) {
    this.#ports = ports;
  }

  /** The accountant closes a period in the ERP for a while. */
  async lock(oracle: Oracle, afterMs: number): Promise<void> {
    const { erp, rng, stage } = this.#ports;
    await stage.time.sleep(afterMs);
    const through = rng.pick(dates);
    oracle.noteLock(through);
    stage.tell(`the ERP is closed through ${through}: ${erp.lock(through)}`);
    await stage.time.sleep(rng.int(60_000, hourMs));
    stage.tell('the ERP is open');
    erp.unlock();
  }

  /** An accident of this kind of ERP occurs for a while. */
  async mishap(afterMs: number): Promise<void> {
    const { erp, rng, stage } = this.#ports;
    await stage.time.sleep(afterMs);
    const mishap = erp.mishap();
    if (mishap === null) return;
    stage.tell(mishap.is);
    await stage.time.sleep(rng.int(60_000, hourMs));
    stage.tell(`over: ${mishap.is}`);
    mishap.end();
  }

  /** An operator retries all refused entries, corrected or not. */
  async retry(afterMs: number): Promise<void> {
    const { installations, stage, wake } = this.#ports;
    const db = this.#ports.db();
    await stage.time.sleep(afterMs);
    await stage.outside(async () => {
      for (const { id } of installations) {
        const by = { actedBy: 'somebody', reason: 'corrected' };
        const ids = await db.transaction((trx) => retryUnits(trx, id, null, by));
        stage.tell(`retried: ${ids.join(' ') || 'none'}`);
      }
    });
    wake();
  }
}
