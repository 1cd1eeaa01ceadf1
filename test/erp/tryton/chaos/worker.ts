// Delivers an installation until nothing is left: `node worker.ts`, with its settings as JSON in CHAOS_WORKER. A round
// kills it at any moment and starts it again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstallationConfig } from '../../../../src/config/load-config.ts';
import { openDatabase } from '../../../../src/db/pool.ts';
import { Slice } from '../../../../src/erp/deliver/slice.ts';
import { entryKey } from '../../../../src/erp/entry-key.ts';
import type { ErpLine } from '../../../../src/erp/erp-entry.ts';
import { openTryton } from '../../../../src/erp/targets/tryton/index.ts';
import type { GeneralLedgerUnit } from '../../../../src/ledger/general-ledger.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';

export interface WorkerSettings {
  databaseUrl: string;
  databaseId: string;
  installation: number;
  holder: string;
  url: string;
  database: string;
  user: string;
  password: string;
  mayWorkSeconds: number;
  batchEntries: number;
}

const settings = JSON.parse(process.env.CHAOS_WORKER ?? '{}') as WorkerSettings;
const { databaseId, installation, holder, url, database, user, password } = settings;
const db = openDatabase(settings.databaseUrl);
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const erp = {
  ...{ kind: 'tryton' as const, url, database, company: null, user, password, post: 'posted' as const },
  ...{ from: null, auto: true, ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 20 },
};
const target = openTryton(erp, { clock: systemClock, log });
// Rounds are short, so the round sets how long an abandoned request may still work.
const { capabilities } = target;
Object.assign(target, {
  capabilities: {
    ...capabilities,
    doubt: { server_may_work_seconds: settings.mayWorkSeconds },
    write: { ...capabilities.write, max_entries: settings.batchEntries },
  },
});
const signal = new AbortController().signal;
const ports = {
  ...{ db, databaseId, target, holder, signal, clock: systemClock, log },
  installation: {
    id: installation,
    timezone: 'Europe/Helsinki',
    decimals: 2,
    mappingHash: 'm',
    erp,
  } as unknown as InstallationConfig,
  pause: (ms: number) => systemClock.sleep(ms, signal),
  onProgress: () => undefined,
};

const dimensions = { Department: '11', 'Reporting dimension 1': 'NONE', 'Reporting dimension 2': 'DOG' };
const code = 'Sales 25.5 %';

function translated({ posting }: GeneralLedgerUnit) {
  const client = Number(posting.id.split('/')[2]) % 5;
  const lines = posting.lines.map(({ account, role, side, amount }): ErpLine => {
    const party = { code: `${installation}/client/${client}`, isOurs: true, name: 'A client' };
    return {
      ...{ account, role, side, amount, description: 'a line', openItem: null, dueDate: null },
      party: account === '1700' ? { ...party, vatNumber: null, countryCode: null } : null,
      vat:
        role === 'revenue' || role === 'vat'
          ? { code, part: role === 'vat' ? 'tax' : 'base', base: null, rate: null }
          : null,
      dimensions: role === 'revenue' ? dimensions : {},
    };
  });
  const { id, date } = posting;
  return {
    entry: {
      ...{ key: entryKey(databaseId, id), unitId: id, installation, date, journal: 'REV' },
      ...{ description: id, reference: null, reverses: null, lines },
    },
  };
}

for (;;) {
  const report = await new Slice(ports, translated).run({ longestMs: 10_000 });
  if (report.left === 0 && report.uncertain === 0) break;
  await sleep(Math.min(report.nextDueMs ?? 1_000, 1_000));
}
await target.close();
await db.destroy();
