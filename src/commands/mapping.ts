import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openApp } from '../app.ts';
import { type Config, type InstallationConfig, loadConfig, loadMapping } from '../config.ts';
import type { Db } from '../db/pool.ts';
import { parseMoney } from '../domain/money.ts';
import { ConfigError } from '../errors.ts';
import {
  isUnmapped,
  type LookUp,
  paymentAccount,
  revenueAccount,
  roleAccount,
  vatAccount,
} from '../posting/look-ups.ts';
import type { Mapping } from '../posting/mapping.ts';
import { postgresFolder } from '../services/postgres.ts';
import type { CommandContext } from './context.ts';
import { table } from './text.ts';

/** Something the source uses and the mapping lacks. */
interface Lack {
  installation: number;
  code: string;
  message: string;
  /** Records that use it. */
  count: number;
}

export async function check(context: CommandContext, file: string): Promise<number> {
  const path = resolve(file);
  const { mapping } = await loadMapping(path);
  const config = await knownConfig(context);
  const lacks = config ? await lacksOf(context, config, mapping) : [];
  await context.result({ ok: lacks.length === 0, file: path, compared: config !== null, lacks }, () => {
    const head = `${path}: the file is valid.`;
    if (!config) return head;
    if (lacks.length === 0) return `${head}\nIt maps everything that the source has used so far.`;
    const rows = lacks.map(({ installation, count, code, message }) => [installation, count, code, message]);
    return `${head}\nThe source uses what it does not map:\n${table(['installation', 'records', 'code', 'what is missing'], rows)}`;
  });
  return lacks.length === 0 ? 0 : 1;
}

/** The configuration, where there is one with a database to compare with; the file can be checked without. */
async function knownConfig(context: CommandContext): Promise<Config | null> {
  try {
    const config = await loadConfig(context.configPath, context.env);
    if (config.databaseUrl || existsSync(postgresFolder(config.dataDir))) return config;
    context.note('Only the file itself is checked: there is no database yet to compare with.');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    context.note(`Only the file itself is checked. ${error.message}`);
  }
  return null;
}

async function lacksOf(context: CommandContext, config: Config, mapping: Mapping): Promise<Lack[]> {
  const app = await openApp(config, { temporal: false, progress: context.note, env: context.env });
  try {
    const lacks: Lack[] = [];
    for (const installation of config.installations) {
      const found = [
        ...(await rowLookUps(app.db, installation, mapping)),
        ...(await paymentLookUps(app.db, installation, mapping)),
      ];
      lacks.push(...gather(installation.id, found));
    }
    return lacks;
  } finally {
    await app.close();
  }
}

interface Use {
  result: LookUp;
  count: number;
}

/** Uses that found no account, the same message once with all its records. */
function gather(installation: number, uses: Use[]): Lack[] {
  const byMessage = new Map<string, Lack>();
  for (const { result, count } of uses) {
    if (!isUnmapped(result)) continue;
    const lack = byMessage.get(result.message) ?? { installation, ...result, count: 0 };
    lack.count += count;
    byMessage.set(result.message, lack);
  }
  return [...byMessage.values()].sort((a, b) => b.count - a.count);
}

/** What the rows of final invoices need, each combination once. */
async function rowLookUps(db: Db, { id, dialect }: InstallationConfig, mapping: Mapping): Promise<Use[]> {
  const { row, invoice } = dialect.fields;
  const { rows } = await db.raw<{
    rows: {
      account: string | null;
      department: number | null;
      vat_name: string | null;
      vat_rate: string | null;
      vat_account: string | null;
      has_vat: boolean | null;
      n: number;
    }[];
  }>(
    `select r.raw #>> ? as account, ${idIn('i.raw #>> ?')} as department, r.raw #>> ? as vat_name,
       coalesce(r.raw #>> ?, r.raw #>> ?) as vat_rate, r.raw #>> ? as vat_account,
       r.raw #>> ? ~ '[1-9]' as has_vat, count(*) as n
     from mirror_record r
     join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
     where r.installation = ? and r.kind = 'row' and r.gone_at is null and i.needs_rows
     group by 1, 2, 3, 4, 5, 6`,
    [
      ...[row.account_number, invoice.department, row.vat_group_name, row.vat_group_rate, row.vat_percentage].map(path),
      ...[row.vat_group_account, row.sum_vat].map(path),
      id,
    ],
  );
  return rows.flatMap(({ account, department, vat_name, vat_rate, vat_account, has_vat, n }) => {
    const uses = [
      { result: roleAccount(mapping, 'receivable'), count: n },
      { result: revenueAccount(mapping, account, department), count: n },
    ];
    const group = {
      name: vat_name,
      rate: vat_rate === null ? null : parseMoney(vat_rate),
      accounts: vat_account === null ? [] : [vat_account],
    };
    // A group without VAT needs no VAT account.
    if (has_vat) uses.push({ result: vatAccount(mapping, group), count: n });
    return uses;
  });
}

/** What payments and prepayments need, each type and department once. */
async function paymentLookUps(db: Db, { id, dialect }: InstallationConfig, mapping: Mapping): Promise<Use[]> {
  const { payment, prepayment, invoice } = dialect.fields;
  const { rows } = await db.raw<{
    rows: { kind: 'payment' | 'prepayment'; type: string | null; department: number | null; n: number }[];
  }>(
    `select p.kind, p.raw #>> ? as type, ${idIn('i.raw #>> ?')} as department, count(*) as n
     from mirror_record p
     left join mirror_record i on i.installation = p.installation and i.kind = 'invoice' and i.id = p.parent_id
     where p.installation = ? and p.kind = 'payment' and p.gone_at is null group by 1, 2, 3
     union all
     select kind, raw #>> ?, ${idIn('raw #>> ?')}, count(*)
     from mirror_record where installation = ? and kind = 'prepayment' and gone_at is null group by 1, 2, 3`,
    [
      path(payment.payment_type),
      path(invoice.department),
      id,
      path(prepayment.payment_type),
      path(prepayment.department),
      id,
    ],
  );
  return rows.flatMap(({ kind, type, department, n }) => {
    const other = kind === 'payment' ? 'receivable' : 'prepayment_liability';
    const uses: Use[] = [{ result: roleAccount(mapping, other), count: n }];
    if (type !== null) uses.push({ result: paymentAccount(mapping, Number(type), department), count: n });
    return uses;
  });
}

/** A field's name, which may reach into an object, as PostgreSQL's `#>>` takes it. */
function path(field: string): string[] {
  return field.split('.');
}

/** SQL of the id that a url-reference ends with, or of a bare id. */
function idIn(reference: string): string {
  return `substring(${reference} from '(\\d+)/*$')::bigint`;
}
