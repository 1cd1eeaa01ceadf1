// The books of one side: its ERP, its mappings and its configuration.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOdooBooks } from '../month-end/erp-world.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { openTestTryton } from '../support/tryton.ts';
import { type Erp, installation, type World } from './world.ts';

const mappings = new URL('../../mappings/', import.meta.url);

export interface ErpBooks {
  /** The `erp` settings of the installation. The password is in the environment variable ERP_PASSWORD. */
  settings: string;
  password: string;
  url?: string;
  /** The accountant closes all days up to and including one. */
  close?: (through: string | null) => void;
  /** The ERP's lines in any order, read without vetledger. Empty if that is impossible. */
  lines(): string[];
  stop(): Promise<void>;
}

/** Starts the ERP of one side. File targets write to `folder`. */
export async function startErp(kind: Erp, folder: string): Promise<ErpBooks> {
  const nothing = { password: 'none', lines: () => [], stop: async () => undefined };
  if (kind === 'ledger') return { ...nothing, settings: '{kind: ledger}' };
  const login = (url: string, database: string, user: string) =>
    `{kind: ${kind}, url: "${url}", database: ${database}, user: ${user}, password: ${fromEnvironment('ERP_PASSWORD')}, auto: true}`;
  if (kind === 'odoo') {
    const { url, database, user, password, close, entries, stop } = await startOdooBooks();
    return {
      ...{ url, password, stop, settings: login(url, database, user), lines: entries },
      close: (through) => close(through ?? '2019-12-31'),
    };
  }
  if (kind === 'tryton') {
    const { url, database, users, release: stop } = await openTestTryton();
    const { user, password } = users.api;
    return { ...nothing, url, password, stop, settings: login(url, database, user) };
  }
  const files = join(folder, 'files');
  mkdirSync(files);
  const options = {
    csv: 'dialect: semicolon',
    sie4: 'company_name: Klinikka Oy',
    datev: 'consultant_number: 29098, client_number: 55003, account_length: 4',
  }[kind];
  const settings = `{kind: ${kind}, auto: true, folder: "${files}", options: {${options}}}`;
  return { ...nothing, settings, lines: () => linesOf(files) };
}

/** Returns the lines of all batches together, because the times of delivery decide which batch has an entry. */
function linesOf(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const batches = found.filter((file) => file.isFile() && !file.name.endsWith('.json'));
  const texts = batches.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  return [...new Set(texts.join('\n').split(/\r?\n/))];
}

/** Writes first.yaml and second.yaml, whose mappings have two accounts exchanged. */
export function configure({ erp, settings, policies }: World, folder: string, url: string, target: string): void {
  const file = erp === 'odoo' || erp === 'tryton' ? `${erp}-demo.yaml` : 'demo.yaml';
  const given = readFileSync(new URL(file, mappings), 'utf8') + (['csv', 'sie4', 'datev'].includes(erp) ? ofFiles : '');
  const first = policies.reduce((text, [from, to]) => text.replace(from, to), given);
  const account = (role: string) => new RegExp(`^  ${role}: ("\\d+")`, 'm').exec(first)![1]!;
  const [cash, card] = [account('cash'), account('card_clearing')];
  const second = first.replace(cash, '?').replace(card, cash).replace('?', card);
  for (const [name, text] of Object.entries({ first, second })) {
    const mapping = join(folder, `${name}.mapping.yaml`);
    writeFileSync(mapping, text);
    const pace = { rate_window_seconds: 1, overlap_seconds: 60, clock_skew_limit_seconds: 1e9 };
    const one = { id: installation, base_url: url, ...pace, ...settings, erp: target, mapping };
    const services = {
      database_url: fromEnvironment('DATABASE_URL'),
      migrate_database_url: fromEnvironment('OWNER_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
    };
    writeFileSync(join(folder, `${name}.yaml`), demoConfig([one], { ...services, window_timeout_minutes: 3 }));
  }
}

const ofFiles = `
erp:
  parties: per_client
  journals: {invoice: F, "*": X}
  dimensions: {department: {name: "1"}}
`;
