import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { Db } from '../../src/db/pool.ts';
import { recordSearch } from '../../src/erp/claims/claim-store.ts';
import { type DeliverPorts, Slice, type SliceReport } from '../../src/erp/deliver/slice.ts';
import { companyKey, entryKey } from '../../src/erp/entry-key.ts';
import type { ErpEntry } from '../../src/erp/erp-entry.ts';
import type { ErpTarget } from '../../src/erp/port.ts';
import type { GeneralLedgerUnit } from '../../src/ledger/general-ledger.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';

export const databaseId = 'abcd';

type Translated = { entry: ErpEntry } | { problems: { code: string; message: string }[] };

/** A unit translated for the ERP; accounts and codes stay the same here. */
export function translated({ posting }: GeneralLedgerUnit): Translated {
  return {
    entry: {
      ...{ key: entryKey(databaseId, posting.id), unitId: posting.id, installation: posting.installation },
      ...{ date: posting.date, journal: 'J', description: posting.id, reference: null, reverses: null },
      lines: posting.lines.map(({ account, role, side, amount }) => ({
        ...{ account, role, side, amount, description: '', party: null, vat: null, dimensions: {} },
        ...{ openItem: null, dueDate: null },
      })),
    },
  };
}

export interface SliceSettings {
  installation?: number;
  post?: 'posted' | 'draft';
  holder?: string;
  signal?: AbortSignal;
  mappingHash?: string;
  translate?: (unit: GeneralLedgerUnit) => Translated;
  longestMs?: number;
  /** False if this database has not claimed the company yet. The default is true. */
  isClaimed?: boolean;
  databaseId?: string;
}

/** Runs one slice like an activity. */
export async function runSlice(db: Db, target: ErpTarget, settings: SliceSettings = {}): Promise<SliceReport> {
  const { installation = 1, post = 'posted', holder = 'one', signal = new AbortController().signal } = settings;
  if (settings.isClaimed !== false) {
    await recordSearch(
      db,
      { company: companyKey(target.company), installation },
      { beganAt: new Date(), claims: true },
    );
  }
  const ports: DeliverPorts = {
    ...{ db, databaseId: settings.databaseId ?? databaseId, target, holder, signal, clock: systemClock },
    installation: {
      ...{
        id: installation,
        timezone: 'Europe/Helsinki',
        decimals: 2,
        currency: 'EUR',
        mappingHash: settings.mappingHash ?? 'm',
      },
      erp: { kind: 'tryton', post, from: null, auto: true },
    } as InstallationConfig,
    pause: (ms) => systemClock.sleep(ms, signal),
    onProgress: () => undefined,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  };
  return new Slice(ports, settings.translate ?? translated).run({ longestMs: settings.longestMs ?? 20_000 });
}
