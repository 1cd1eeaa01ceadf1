// Schemathesis, an independent fuzzer, against a sandbox over HTTP: it reads the OpenAPI description and sends requests that fit it
// and requests that do not. It fails on 5xx, on answers outside their schemas, and on invalid input that is accepted.
//
//     node sandbox/test/fuzz/run.ts [--examples 100] [--seed 1] [--path REGEX]
//
// --examples   random requests per endpoint, besides those that cover each rule of a schema
// --path       only the endpoints whose path matches
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { type Clinic, startSandbox } from '../../src/index.ts';
import { connectClient, createAppointment } from '../../src/online/bookings.ts';
import { onlineBookingType } from '../../src/state/online.ts';
import { connectWholesaler } from '../../src/supply/credentials.ts';
import { draftOrder, sendOrder } from '../../src/supply/orders.ts';
import { refusals } from './refusals.ts';

const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const home = process.env.VETLEDGER_SCHEMATHESIS || join(cache, 'vetledger', 'schemathesis');
const program = join(home, 'bin', 'st');

/** True if the fuzzer is installed; `.ci/run` and CONTRIBUTING show how. */
export const hasSchemathesis = existsSync(program);
export const whereSchemathesis = home;

export interface Fuzzed {
  cases: number;
  passed: boolean;
  /** The output of the fuzzer. */
  report: string;
}

/**
 * Runs the fuzzer. Its requests depend on the seed only; the sandbox injects no random faults, so that a failure can be
 * repeated.
 */
export async function fuzz(options: {
  examples: number;
  seed: number;
  path?: string;
  timeoutMs: number;
}): Promise<Fuzzed> {
  // The sandbox has no limits, and answers 500 if an answer does not match its schema.
  const sandbox = await startSandbox({
    ...{ invoices: 150, rateWindowSeconds: 0, checkAnswers: true, quirks: { strict: true, loopbackCallbacks: true } },
  });
  const parameters = openWholesaler(sandbox.clinic);
  openBooking(sandbox.clinic);
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-fuzz-'));
  try {
    // The fuzzer gets existing ids, so that it reaches the endpoints of single records.
    writeFileSync(join(folder, 'schemathesis.toml'), configuration(existingIds(sandbox.clinic.tables), parameters));
    const records = join(folder, 'records.json');
    writeFileSync(records, JSON.stringify(namedRecords(sandbox.clinic)));
    const args = [
      ...['run', `${sandbox.url}/schema/`, '--header', `Authorization: Bearer ${explorer.token}`],
      ...['--phases', 'coverage,fuzzing', '--max-examples', String(options.examples), '--seed', String(options.seed)],
      ...['--suppress-health-check', 'all', '--generation-database', 'none', '--no-color', '--warnings', 'off'],
      ...(options.path === undefined ? [] : ['--include-path-regex', options.path]),
    ];
    const { code, output } = await run(program, args, folder, { EXISTING_RECORDS: records }, options.timeoutMs);
    const cases = Number(/^\s*([\d,]+) generated/m.exec(output)?.[1]?.replaceAll(',', '') ?? 0);
    return { cases, passed: code === 0, report: output };
  } finally {
    await sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sandbox's application with both scopes. */
const explorer = { clientId: 'explorer-client', token: 'explorer-token' };

/** The id of the first record of every table, by resource. */
function existingIds(tables: ReadonlyMap<string, { all(): readonly { id: number }[] }>): Map<string, number> {
  return new Map(
    [...tables].flatMap(([name, table]) =>
      table
        .all()
        .slice(0, 1)
        .map(({ id }) => [name, id] as const),
    ),
  );
}

/** Adds an appointment that was booked online, with its client. */
function openBooking(clinic: Clinic): void {
  const now = clinic.clock();
  const appointment = createAppointment(clinic, {
    ...{ start: now + 86_400_000, end: now + 90_000_000, department: 11, reason: null, user: null, client: null },
    ...{ title: '', complaint: '', type: onlineBookingType, patients: [], notes: '' },
  });
  connectClient(clinic, {
    ...{ appointment: appointment.id, first_name: 'Minea', last_name: 'Harjula', email: '', phone_number: '' },
    ...{ street_address: '', zip_code: '', city: '' },
  });
}

/** Ids of records that bodies may refer to, by the names in hooks.py. */
function namedRecords(clinic: Clinic): Record<string, number[]> {
  const ids = (table: { all(): readonly { id: number }[] } | undefined): number[] =>
    (table?.all() ?? []).slice(0, 50).map(({ id }) => id);
  const names = ['client', 'user', 'reason', 'item', 'consultation', 'invoice', 'invoicerow', 'unallocatedpayment'];
  return {
    ...Object.fromEntries(
      [...names, 'patient', 'appointment', 'onlinebookingclient'].map((name) => [name, ids(clinic.tables.get(name))]),
    ),
    department: [...clinic.departments.keys()],
    prescriber: clinic.registers.users
      .all()
      .filter((user) => user.is_veterinarian)
      .map(({ id }) => id),
    species: ids(clinic.people.species),
    breed: ids(clinic.people.breeds),
    diagnosis: ids(clinic.people.diagnoses),
    field: ids(clinic.people.customFields),
  };
}

/** Adds a wholesaler of the fuzzer's application with orders. Returns ids by the names of path parameters. */
function openWholesaler(clinic: Clinic): Record<string, number> {
  const available = clinic.insert(clinic.supply.available, {
    ...{ name: 'Fuzzed', email: null, register_number: null, owner: explorer.clientId },
    ...{ webhook_callback_url: 'http://127.0.0.1:9/', verification_salt: 'x'.repeat(16) },
  });
  const wholesaler = connectWholesaler(clinic, available.id);
  let order = 0;
  for (let n = 0; n < 40; n += 1) {
    order = draftOrder(clinic, { wholesaler: wholesaler.id, lines: [{ product_number: 'a', quantity: '1' }] }).id;
    sendOrder(clinic, order);
  }
  return { wholesaler_pk: wholesaler.id, order_id: order };
}

function configuration(ids: Map<string, number>, parameters: Record<string, number>): string {
  const everywhere = Object.entries(parameters).map(([name, value]) => `${name} = ${value}`);
  const own = [...ids].map(
    ([name, id]) => `[[operations]]\ninclude-path-regex = '^/${name}/[{]'\nparameters = { "path.id" = ${id} }`,
  );
  const refused = Object.keys(refusals).map(
    (name) =>
      `[[operations]]\ninclude-name = '${name}'\nchecks.positive_data_acceptance.expected-statuses = ["2xx", 400, 403, 404]`,
  );
  const hooks = JSON.stringify(fileURLToPath(new URL('hooks.py', import.meta.url)));
  return [`hooks = ${hooks}`, '[parameters]', ...everywhere, '', ...own, ...refused, ''].join('\n');
}

function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
  timeoutMs: number,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs },
      env: { ...process.env, ...env },
    });
    let output = '';
    const take = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}\nended by ${signal}` : output }),
    );
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      examples: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      path: { type: 'string' },
    },
  });
  if (!hasSchemathesis) {
    console.error(`error: Schemathesis is not in ${home}; CONTRIBUTING says how to install it`);
    process.exit(2);
  }
  const { examples, seed, path } = values;
  const fuzzed = await fuzz({
    examples: Number(examples),
    seed: Number(seed),
    ...(path === undefined ? {} : { path }),
    timeoutMs: 3_600_000,
  });
  console.log(fuzzed.report);
  console.log(`${fuzzed.cases} cases with --seed ${seed}: ${fuzzed.passed ? 'right' : 'WRONG'}`);
  process.exitCode = fuzzed.passed ? 0 : 1;
}
