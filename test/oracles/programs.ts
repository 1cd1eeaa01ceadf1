// The independent programs: hledger and beancount read an exported journal, and say what is in it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';

/** One line of a journal as an independent program read it; debit positive. */
export interface ReadPosting {
  entry: string;
  date: string;
  /** As the journal calls it: the ERP's number with the role or beancount's root around it. */
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

/** The virtual environment that holds beancount: `.ci/run` makes it, and so does the recipe in CONTRIBUTING. */
const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const beancountHome = process.env.VETLEDGER_BEANCOUNT || join(cache, 'vetledger', 'beancount');

export const beanCheck = join(beancountHome, 'bin', 'bean-check');
const python = join(beancountHome, 'bin', 'python');

export const hasHledger = isThere('hledger', spawnSync('hledger', ['--version']).status === 0);
export const hasBeancount = isThere(`beancount (in ${beancountHome})`, existsSync(beanCheck));

/** Where tests must be complete an oracle has to be there; elsewhere its tests are skipped, with a notice. */
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

/** As `hledger print -O json` gives it; a quantity is a whole mantissa and its places. */
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

/** Balances that `hledger balance` itself adds up, by the account's name in the journal. */
export function balancesByHledger(file: string): Map<string, Decimal> {
  const args = ['-f', file, 'balance', '--flat', '--empty', '--no-total', '--layout', 'bare', '-O', 'csv'];
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

/** Sums per ERP account, from names as the journals build them. */
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
