import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { vetledger } from './support.ts';

// Two databases, each with a separate program, are configured to deliver files to the same folder.

const folder = mkdtempSync(join(tmpdir(), 'vetledger-shared-'));
const clinics: TestClinic[] = [];

beforeAll(async () => {
  for (const name of ['first', 'second']) {
    const settings = { erp: `{kind: csv, auto: true, folder: "${folder}"}` };
    const clinic = await startTestClinic({ seed: 83, invoices: 12, settings });
    clinics.push(clinic);
    const written = readFileSync(clinic.config, 'utf8');
    writeFileSync(clinic.config, written.replace(/^(temporal: .*)\}$/m, `$1, task_queue: two-databases-${name}}`));
  }
});
afterAll(async () => {
  for (const clinic of clinics) await clinic.stop();
  rmSync(folder, { recursive: true, force: true });
});

const command = (n: 0 | 1, ...args: string[]) => vetledger([...args, '--config', clinics[n]!.config], clinics[n]!.env);

test('the second database writes nothing, and every command names the first; adopt lets it go on', async () => {
  expect((await clinics[0]?.sync())?.posted).toBeGreaterThan(10);
  expect((await command(0, 'deliver', '--json')).code).toBe(0);
  const before = readdirSync(folder);
  expect(before).toContain('vetledger-claim.json');

  await clinics[1]?.sync();
  const delivered = await command(1, 'deliver', '--wait', '1', '--json');
  expect(delivered.code).toBe(3);
  expect(readdirSync(folder)).toEqual(before);
  const named = /Another database of vetledger uses the folder .* for installation 4711/;
  const status = await command(1, 'status');
  expect(status.stdout).toMatch(named);
  expect(status.stdout).toContain('vetledger adopt --installation ID --reason TEXT');
  expect((await command(1, 'status', '--json')).json().installations[0].delivery.last_error.code).toBe(
    'erp_company_foreign',
  );
  const checked = await command(1, 'erp', 'check');
  expect([checked.code, checked.stdout]).toEqual([1, expect.stringMatching(named)]);
  expect((await command(1, 'deliver', '--dry-run')).stdout).toMatch(named);
  expect((await command(1, 'deliver', '--dry-run', '--json')).json().installations[0].foreign.code).toBe(
    'erp_company_foreign',
  );

  const adopt = ['adopt', '--installation', '4711', '--reason', 'the old server is gone', '--by', 'M. Virtanen'];
  const asked = await command(1, ...adopt, '--json');
  expect([asked.code, asked.json().error.code]).toEqual([2, 'not_confirmed']);
  expect(asked.json().error.message).toMatch(named);
  expect((await command(1, ...adopt, '--yes')).stdout).toContain('by M. Virtanen');
  const [noted] = await clinics[1]!.rows(`select acted_by, reason from action_done where kind = 'adopt_entries'`);
  expect(noted).toEqual({ acted_by: 'M. Virtanen', reason: 'the old server is gone' });
  expect((await command(1, 'erp', 'check')).code).toBe(0);
  // Now the roles are exchanged.
  expect((await command(0, 'erp', 'check')).stdout).toMatch(named);
});
