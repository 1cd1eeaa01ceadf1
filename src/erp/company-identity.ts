import { bool, integer, text } from '../db/columns.ts';
import { holdLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { keepLease } from '../db/with-lease.ts';
import type { Clock } from '../domain/clock.ts';
import { visible } from '../domain/text.ts';
import { barredError, isBarred } from '../ledger/adoption.ts';
import type { InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { type CompanyLease, takeCompany } from './company-lease.ts';
import { companyKey } from './entry-key.ts';
import type { Pace } from './erp-pace.ts';
import type { CompanyRef, ErpTarget, IdentifiedCompany, RequestOptions } from './port.ts';

/**
 * Configurations may name one company of an ERP in several ways: by its name, its id, or not at all. Which company a name means,
 * the ERP says. One name at a time is in use (table `erp_company_identity`): its lease is the company's. Whoever has the lease of
 * a name sends only after having seen, under that lease, that the name is in use; and a name comes into use only under the lease
 * of the former one, too. So two names never have two deliveries at once.
 */

export interface NamingPorts {
  db: Db;
  installation: InstallationId;
  /** As the configuration names it. */
  configured: CompanyRef;
  /** As the ERP does. */
  answered: IdentifiedCompany;
  /** ISO 4217 code of the installation's currency. */
  currency: string;
  holder: string;
  clock: Clock;
  signal: AbortSignal;
  /** How long the server may be at work on what was sent last. */
  mayWorkMs: number;
}

/** Why nothing may be sent to the company under its configured name; `ms` null: until somebody does something. */
export interface NamingObstacle {
  for: PlainError;
  ms: number | null;
}

/** The company as the ERP tells it apart. Throws ErpError. */
export function answeredCompany(
  target: Pick<ErpTarget, 'company' | 'identify'>,
  pace: Pace,
  request: RequestOptions,
): Promise<IdentifiedCompany> {
  const identify = target.identify?.bind(target);
  return identify ? pace.run(request, () => identify(request)) : Promise.resolve(target.company);
}

const shape = { company: text, kind: text, url: text, id: text, is_in_use: bool };
const busyAgainMs = 2_000;

/**
 * Sees to it that the configured name of the company is the one in use; null where it is. The name in use gives way to another of
 * the same installation, where no other installation has it: a company that was left out of the configuration may be written into
 * it. The caller holds the lease of the configured name.
 */
export async function useCompanyName(ports: NamingPorts, lease: CompanyLease): Promise<NamingObstacle | null> {
  const { db, installation, answered, currency } = ports;
  if (answered.currency !== undefined && answered.currency !== currency)
    return { for: otherCurrency(installation, answered.currency, currency), ms: null };
  const seen = await db.transaction(async (trx) => {
    await holdLease(trx, lease);
    return claimName(trx, ports);
  });
  if ('obstacle' in seen) return { for: seen.obstacle, ms: null };
  for (const former of seen.formerNames) {
    const obstacle = await replaceName(ports, lease, former);
    if (obstacle !== null) return obstacle;
  }
  return null;
}

/** Notes the name, in use where none is; gives names of the same company under which the installation, or the company, still is. */
async function claimName(
  trx: Connection,
  naming: NamingPorts,
): Promise<{ formerNames: CompanyRef[] } | { obstacle: PlainError }> {
  const { installation, configured, answered } = naming;
  const company = companyKey(configured);
  const identity = companyKey(answered);
  const former = await formerName(trx, installation, company);
  if (former === null && (await isInUse(trx, company, identity))) return { formerNames: [] };
  await lockIdentity(trx, identity);
  // A name that is refused is noted, too: once it is written otherwise, what is under it follows.
  await execute(
    trx,
    'insert into erp_company_identity (company, kind, url, id, identity) values (?, ?, ?, ?, ?) on conflict do nothing',
    [company, configured.kind, configured.url, configured.id, identity],
  );
  const fault = await namingFault(trx, naming);
  if (fault !== null) return { obstacle: fault };
  const names = await namesOf(trx, identity);
  for (const name of names) {
    if (await isBarred(trx, { kind: 'company', key: name.company })) return { obstacle: barredError(installation) };
  }
  const inUse = names.find(({ is_in_use }) => is_in_use)?.company;
  if (inUse === undefined) {
    await execute(trx, 'update erp_company_identity set is_in_use = true where company = ?', [company]);
  }
  const left = names.filter((name) => name.company !== company && [former, inUse].includes(name.company));
  return { formerNames: left.map(({ kind, url, id }) => ({ kind, url, id })) };
}

/** Why the configured name of a company cannot be used, in so far as people have to do something; null: it can. */
export async function namingFault(
  db: Connection,
  { installation, configured, answered }: Pick<NamingPorts, 'installation' | 'configured' | 'answered'>,
): Promise<PlainError | null> {
  const company = companyKey(configured);
  const identity = companyKey(answered);
  const own = await maybeRow(db, { identity: text }, 'select identity from erp_company_identity where company = ?', [
    company,
  ]);
  if (own !== null && own.identity !== identity) return meansAnother(installation, configured, answered);
  const inUse = (await namesOf(db, identity)).find(({ is_in_use }) => is_in_use);
  if (inUse === undefined || inUse.company === company) return null;
  const others = await othersNaming(db, installation, inUse.company);
  return others.length === 0 ? null : namedDifferently(installation, configured, inUse, others);
}

/** What is under a former name follows under both leases, in one transaction. */
async function replaceName(
  ports: NamingPorts,
  lease: CompanyLease,
  former: CompanyRef,
): Promise<NamingObstacle | null> {
  const { db, installation, holder, clock, signal, mayWorkMs, answered } = ports;
  const taken = await takeCompany(db, former, holder, { mayWorkMs });
  if (taken.lease === null) return { for: formerNameBusy, ms: busyAgainMs };
  const { lease: formerLease, lookUpInMs } = taken;
  return keepLease({ db, clock, signal }, formerLease, async (): Promise<NamingObstacle | null> => {
    if (lookUpInMs !== null && lookUpInMs > 0) return { for: formerNameBusy, ms: lookUpInMs };
    return db.transaction(async (trx) => {
      await holdLease(trx, lease);
      await holdLease(trx, formerLease);
      await lockIdentity(trx, companyKey(answered));
      // Another installation may have begun to use the former name meanwhile.
      const fault = await namingFault(trx, ports);
      if (fault !== null) return { for: fault, ms: null };
      await move(trx, { installation, from: formerLease.company, to: lease.company, mayWorkMs });
      return null;
    });
  });
}

async function move(
  trx: Connection,
  { installation, from, to, mayWorkMs }: { installation: InstallationId; from: string; to: string; mayWorkMs: number },
): Promise<void> {
  // What an earlier delivery was sending under the former name is looked up once the server can be done with it.
  await execute(
    trx,
    `update erp_unit u set company = ?,
       state = case when state = 'sending' then 'uncertain' else state end,
       doubt = case when state = 'sending' then coalesce(doubt, 'no_answer') else doubt end,
       not_before = case when state = 'sending'
         then greatest(clock_timestamp(), sent_at + make_interval(secs => ?)) else not_before end
     where company = ? and (installation = ? or not exists (
       select from erp_cursor c where c.installation = u.installation and c.company = u.company))`,
    [to, mayWorkMs / 1000, from, installation],
  );
  await execute(trx, 'update erp_cursor set company = ? where installation = ? and company = ?', [
    to,
    installation,
    from,
  ]);
  await execute(trx, 'update erp_request set company = ? where company = ?', [to, from]);
  // Days that the ERP has closed stay closed here until it is asked again.
  await execute(
    trx,
    `update erp_company c set periods = f.periods, periods_read_at = f.periods_read_at
     from erp_company f where c.company = ? and f.company = ? and c.periods is null`,
    [to, from],
  );
  await execute(trx, 'update erp_company_identity set is_in_use = false where company = ?', [from]);
  await execute(trx, 'update erp_company_identity set is_in_use = true where company = ?', [to]);
}

/** The company that the installation was delivered to last; null where it is the same, or there was none. */
export async function formerName(
  db: Connection,
  installation: InstallationId,
  company: string,
): Promise<string | null> {
  const found = await maybeRow(
    db,
    { company: text },
    `select company from erp_cursor where installation = ? and company not in ('', ?)`,
    [installation, company],
  );
  return found?.company ?? null;
}

async function isInUse(trx: Connection, company: string, identity: string): Promise<boolean> {
  const { found } = await row(
    trx,
    { found: bool },
    `select exists (
       select from erp_company_identity where company = ? and identity = ? and is_in_use) as found`,
    [company, identity],
  );
  return found;
}

function namesOf(db: Connection, identity: string) {
  return rows(
    db,
    shape,
    'select company, kind, url, id, is_in_use from erp_company_identity where identity = ? order by company',
    [identity],
  );
}

async function othersNaming(trx: Connection, installation: InstallationId, company: string): Promise<number[]> {
  const found = await rows(
    trx,
    { installation: integer },
    'select installation from erp_cursor where company = ? and installation <> ? order by installation',
    [company, installation],
  );
  return found.map((other) => other.installation);
}

async function lockIdentity(trx: Connection, identity: string): Promise<void> {
  await execute(trx, 'select pg_advisory_xact_lock(hashtextextended(?, 0))', [`vetledger company ${identity}`]);
}

const formerNameBusy: PlainError = {
  code: 'erp_company_busy',
  message: 'A delivery to the company, under the name that the configuration had for it before, has not ended.',
  todo: 'Nothing: delivery goes on by itself.',
};

function namedDifferently(
  installation: InstallationId,
  configured: CompanyRef,
  inUse: CompanyRef,
  others: readonly number[],
): PlainError {
  const [which, does] = others.length === 1 ? ['installation', 'does'] : ['installations', 'do'];
  return {
    code: 'erp_company_named_differently',
    message:
      `installation ${installation} names the company ${shown(configured)}, and ${which} ${others.join(', ')} ` +
      `${shown(inUse)}: the ERP says that it is one company`,
    todo: `Write erp.url, erp.database and erp.company of installation ${installation} as ${which} ${others.join(', ')} ${does}; nothing of it is sent before.`,
  };
}

function meansAnother(installation: InstallationId, configured: CompanyRef, answered: CompanyRef): PlainError {
  return {
    code: 'erp_company_means_another',
    message: `what installation ${installation} names ${shown(configured)} is another company in the ERP than before: now it is ${shown(answered)}`,
    todo: 'Write the id of the company that is meant into erp.company. What the former company may have is told then, and not sent to another.',
  };
}

/** Amounts go over as they are: in books of another currency each would be another amount. */
function otherCurrency(installation: InstallationId, theirs: string, ours: string): PlainError {
  return {
    code: 'erp_currency_differs',
    message: `the company of installation ${installation} keeps its books in ${visible(theirs)} in the ERP; the practice has ${ours}`,
    todo: 'Name the right company in erp.company, or correct the installation’s currency; nothing is sent before.',
  };
}

function shown({ url, id }: CompanyRef): string {
  return `“${visible(id)}” at ${visible(url)}`;
}
