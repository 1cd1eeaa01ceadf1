// Runs the independent programs hledger and beancount, which read an exported journal and print its contents.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';

/** One line of a journal as an independent program read it; debits are positive. */
export interface ReadPosting {
  entry: string;
  date: string;
  /** The account's name in the journal: the ERP's number with the role, or with beancount's root. */
  account: string;
  amount: Decimal;
  currency: string;
  tags: ReadonlyMap<string, string>;
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function run(program: string, args: string[]): Ran {
  const result = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000, maxBuffer: 512 * 1024 * 1024 });
  if (result.error) throw result.error;
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** The virtual environment of beancount. `.ci/run` creates it; CONTRIBUTING shows how. */
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const beancountHome = process.env.VETLEDGER_BEANCOUNT || join(cache, 'vetledger', 'beancount');

export const beanCheck = join(beancountHome, 'bin', 'bean-check');
const python = join(beancountHome, 'bin', 'python');

export const hasHledger = isThere('hledger', spawnSync('hledger', ['--version']).status === 0);
export const hasBeancount = isThere(`beancount (in ${beancountHome})`, existsSync(beanCheck));

/** If all tests are required, a missing program is an error. Otherwise its tests are skipped with a notice. */
function isThere(name: string, found: boolean): boolean {
  if (found) return true;
  if (process.env.CI === 'true') throw new Error(`${name} is not installed, and the books cannot be proved without it`);
  console.warn(`${name} is not installed: the tests that need it are skipped (see CONTRIBUTING)`);
  return false;
}

export function readByBeancount(file: string): ReadPosting[] {
  const script = new URL('./journals.py', import.meta.url).pathname;
  const { code, stdout, stderr } = run(python, [script, file]);
  if (code !== 0) throw new Error(`beancount refuses ${file}:\n${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<'entry' | 'date' | 'account' | 'amount' | 'currency', string> & Tagged)
    .map((read) => ({ ...read, amount: new Decimal(read.amount), tags: new Map(Object.entries(read.tags)) }));
}
interface Tagged {
  tags: Record<string, string>;
}

/** A transaction of `hledger print -O json`. A quantity is a whole mantissa with a number of decimals. */
interface HledgerTransaction {
  tcode: string;
  tdate: string;
  tpostings: {
    paccount: string;
    ptags: [string, string][];
    pamount: { acommodity: string; aquantity: { decimalMantissa: number; decimalPlaces: number } }[];
  }[];
}

export function readByHledger(file: string): ReadPosting[] {
  const { code, stdout, stderr } = run('hledger', ['-f', file, 'print', '--explicit', '-O', 'json']);
  if (code !== 0) throw new Error(`hledger refuses ${file}:\n${stderr}`);
  return (JSON.parse(stdout) as HledgerTransaction[]).flatMap(({ tcode, tdate, tpostings }) =>
    tpostings.map(({ paccount, ptags, pamount }) => {
      const [only, ...others] = pamount;
      if (!only || others.length > 0) throw new Error(`${tcode}: a posting has ${pamount.length} amounts`);
      const { decimalMantissa, decimalPlaces } = only.aquantity;
      if (!Number.isSafeInteger(decimalMantissa)) throw new Error(`${tcode}: ${decimalMantissa} is beyond 2^53`);
      return {
        entry: tcode,
        date: tdate,
        account: paccount,
        amount: new Decimal(decimalMantissa).times(new Decimal(10).pow(-decimalPlaces)),
        currency: only.acommodity,
        tags: new Map(ptags),
      };
    }),
  );
}

/** The balances of `hledger balance`, by the account's name in the journal. `days`: its options for a period. */
export function balancesByHledger(file: string, days: readonly string[] = []): Map<string, Decimal> {
  const args = ['-f', file, 'balance', ...days, '--flat', '--empty', '--no-total', '--layout', 'bare', '-O', 'csv'];
  const { code, stdout, stderr } = run('hledger', args);
  if (code !== 0) throw new Error(`hledger refuses ${file}:\n${stderr}`);
  const [, ...lines] = stdout.trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [account, , balance] = line.split(',').map((cell) => cell.replace(/^"|"$/g, ''));
      return [account!, new Decimal(balance!)];
    }),
  );
}

/** Sums by ERP account, from the names in the journals. */
export function byErpAccount(
  amounts: Iterable<readonly [account: string, amount: Decimal]>,
  erpAccount: (name: string) => string,
): Map<string, Decimal> {
  const totals = new Map<string, Decimal>();
  for (const [name, amount] of amounts) {
    const account = erpAccount(name);
    totals.set(account, (totals.get(account) ?? new Decimal(0)).plus(amount));
  }
  return totals;
}
