// Runs a delivery that is killed while its request is running: `node killed-process.ts DATABASE_URL ERP_URL LIMITS`. The ERP is
// in the test process, which receives the created keys and does not answer.

import { openDatabase } from '../../src/db/pool.ts';
import { capabilitiesWith } from './capabilities.ts';
import { ScriptedTarget } from './scripted-target.ts';
import { runSlice } from './slices.ts';

const [databaseUrl = '', erpUrl = '', pace = '{}'] = process.argv.slice(2);
const target = new ScriptedTarget(capabilitiesWith({ doubt: { server_may_work_seconds: 0 }, pace: JSON.parse(pace) }));
target.before = async ({ kind, keys }) => {
  if (kind === 'create') await fetch(erpUrl, { method: 'POST', body: JSON.stringify(keys) });
};
await runSlice(openDatabase(databaseUrl), target, { holder: 'a process that is killed' });
