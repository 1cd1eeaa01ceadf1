// The books of a month in every format, read back by readers that share no code with the writers. Each must have the balances of the
// expected journal, account by account.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Decimal } from 'decimal.js';
import { readCsvFile } from '../erp/files/readers/csv.ts';
import { entriesOfDatev, readDatev } from '../erp/files/readers/datev.ts';
import type { ReadEntry } from '../erp/files/readers/entry.ts';
import { readSie } from '../erp/files/readers/sie.ts';
import { byErpAccount, hasBeancount, hasHledger, readByBeancount, readByHledger } from '../oracles/programs.ts';
import { mappingData } from '../support/expected-books.ts';
import { month, monthEnd } from './compare.ts';
import { accountsOf, exportedUnits, plain } from './compare-journal.ts';
import { playGermanOctober } from './german-month.ts';
import { Journal } from './journal.ts';
import type { Variant } from './variant.ts';
import { type Services, startWorld, type World } from './world.ts';

const mapping = fileURLToPath(new URL('germany.yaml', import.meta.url));

/** The programs that take files: how vetledger writes for them, and the entries of a file. */
export const programs = {
  datev: {
    options: 'consultant_number: 29098, client_number: 55003, account_length: 4, chart: "03"',
    read: (bytes: Uint8Array): ReadEntry[] => entriesOfDatev(readDatev(bytes)),
  },
  sie4: {
    options: 'company_name: "Klinik am Wald"',
    read: (bytes: Uint8Array): ReadEntry[] => readSie(bytes).vouchers,
  },
};

export type Program = keyof typeof programs;

/** Balances by account, debits positive; accounts with a balance of zero are left out. */
type Balances = Record<string, string>;

/** Plays the month with one of the programs. Returns the differences. */
export async function filesOfMonth(services: Services, program: Program, variant: Variant): Promise<string[]> {
  const { options } = programs[program];
  const world = await startWorld(services, '2025-10-01 08:00', {
    ...{ mapping, variant, sandbox: { installation: 4713, invoices: 0, historyDays: 0 } },
    settings: { erp: `{kind: ${program}, auto: true, folder: files, options: {${options}}}` },
  });
  try {
    return await new Files(world, program, variant).play();
  } finally {
    await world.stop();
  }
}

class Files {
  readonly #world: World;
  readonly #program: Program;
  readonly #variant: Variant;
  readonly #journal: Journal;
  readonly #differences: string[] = [];

  constructor(world: World, program: Program, variant: Variant) {
    this.#world = world;
    this.#program = program;
    this.#variant = variant;
    this.#journal = new Journal(world.sandbox.clinic, mappingData(world.mapping.text), variant);
  }

  async play(): Promise<string[]> {
    await this.#run('migrate');
    await playGermanOctober(this.#world, () => this.#window());
    await this.#run('deliver');
    await this.#run(`ledger close --through ${monthEnd} --by "M. Virtanen" --yes`);
    const expected = Object.fromEntries(
      [...accountsOf(this.#journal, monthEnd, monthEnd)].flatMap(([account, [, , , closing = '']]) =>
        closing === '0.00' ? [] : [[account, closing]],
      ),
    );
    for (const [what, balances] of await this.#read()) {
      const [got, asked] = [textOf(balances), textOf(expected)];
      if (got !== asked) this.#differences.push(`${what}\n    read:     ${got}\n    expected: ${asked}`);
    }
    return this.#differences;
  }

  async #window(): Promise<void> {
    await this.#run('sync');
    const order = [...new Set((await exportedUnits(this.#world, ' --documents')).map(({ document }) => document))];
    this.#journal.window({ unmatched: new Set(), order });
  }

  /** The balances by each reader. */
  async #read(): Promise<[what: string, balances: Balances][]> {
    const { folder } = this.#world;
    const files = this.#files();
    const lines = files.flatMap((bytes) => programs[this.#program].read(bytes)).flatMap((entry) => entry.lines);
    // VAT that is not due with the sale has no tax key.
    const hasKeys = this.#program === 'datev' && this.#variant.vat === 'accrual';
    if (hasKeys && !files.some((bytes) => readDatev(bytes).rows.some(({ buKey }) => buKey !== '')))
      this.#differences.push('no row of the DATEV files has a tax key');
    const found: [string, Balances][] = [
      [this.#program, balancesOf(lines.map(({ account, amount }) => [account, amount]))],
    ];
    const binder = join(folder, 'binder');
    await this.#run(`export --binder ${month} --out ${binder}`);
    const table = (name: string) => readCsvFile(readFileSync(join(binder, name)), 'international');
    found.push([
      'binder, trial balance',
      balancesOf(table('trial-balance.csv').map(({ account, closing }) => [account!, closing!])),
    ]);
    found.push(['binder, journal', balancesOf(table('journal.csv').map(({ account, amount }) => [account!, amount!]))]);
    for (const [format, isThere] of [
      ['hledger', hasHledger],
      ['beancount', hasBeancount],
    ] as const) {
      if (!isThere) continue;
      const file = join(folder, `books.${format}`);
      await this.#run(`export --format ${format} --out ${file}`);
      const postings = format === 'hledger' ? readByHledger(file) : readByBeancount(file);
      const accountIn = (name: string) =>
        format === 'hledger' ? decodeURIComponent(name.split(':')[0]!) : (/\d+/.exec(name)?.[0] ?? name);
      const sums = byErpAccount(
        postings.map(({ account, amount }) => [account, amount] as const),
        accountIn,
      );
      found.push([format, balancesOf([...sums].map(([account, amount]) => [account, amount.toFixed()]))]);
    }
    return found;
  }

  /** The written files. */
  #files(): Uint8Array[] {
    const folder = join(this.#world.folder, 'files');
    const manifests = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .toSorted();
    return manifests.flatMap((name) => {
      const { file } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { file?: string };
      return file === undefined ? [] : [readFileSync(join(folder, file))];
    });
  }

  async #run(line: string): Promise<void> {
    const { code, stdout, stderr } = await this.#world.run(line);
    if (code !== 0) this.#differences.push(`${line} ended with ${code}:\n${stdout}${stderr}`);
  }
}

function balancesOf(amounts: readonly (readonly [account: string, amount: string])[]): Balances {
  const sums = new Map<string, Decimal>();
  for (const [account, amount] of amounts) sums.set(account, (sums.get(account) ?? new Decimal(0)).plus(amount));
  return Object.fromEntries(
    [...sums].filter(([, sum]) => !sum.isZero()).map(([account, sum]) => [account, plain(sum)]),
  );
}

const textOf = (balances: Balances): string =>
  Object.entries(balances)
    .map(([account, balance]) => `${account} ${balance}`)
    .toSorted()
    .join(', ');
