import { bool, integer, text } from '../db/columns.ts';
import { holdLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { keepLease } from '../db/with-lease.ts';
import type { Clock } from '../domain/clock.ts';
import { visible } from '../domain/text.ts';
import { barredError, isBarred } from '../ledger/adoption.ts';
import type { InstallationId } from '../terms.ts';
import { deliveryErrors } from '../texts/errors/deliveries.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { type CompanyLease, takeCompany } from './company-lease.ts';
import { companyKey } from './entry-key.ts';
import type { Pace } from './erp-pace.ts';
import type { CompanyRef, ErpTarget, IdentifiedCompany, RequestOptions } from './port.ts';

/**
 * Configurations may name one company of an ERP in several ways: by its name, by its id, or not at all. The ERP decides
 * which company a name identifies. Of all names of a company, one at a time is in use (table `erp_company_identity`),
 * and its lease is the lease of the company. The holder of a name's lease sends only after it has checked, under that
 * lease, that the name is in use. A new name comes into use only while its holder also holds the lease of the former
 * name. So two deliveries under two names never run at once.
 */

export interface NamingPorts {
  db: Db;
  installation: InstallationId;
  /** The company as the configuration names it. */
  configured: CompanyRef;
  /** The identity of the company that the ERP returned. */
  answered: IdentifiedCompany;
  /** ISO 4217 code of the installation's currency. */
  currency: string;
  holder: string;
  clock: Clock;
  signal: AbortSignal;
  /** How long the server may work on the request that was sent last. */
  mayWorkMs: number;
}

/**
 * The reason why nothing may be sent under the configured name. `ms`: when to try again; null if the operator has to
 * act first.
 */
export interface NamingObstacle {
  for: PlainError;
  ms: number | null;
}

/** The company as the ERP identifies it. Throws ErpError. */
export function answeredCompany(
  target: Pick<ErpTarget, 'company' | 'identify'>,
  pace: Pace,
  request: RequestOptions,
): Promise<IdentifiedCompany> {
  const identify = target.identify?.bind(target);
  return identify ? pace.run(request, identify) : Promise.resolve(target.company);
}

const shape = { company: text, kind: text, url: text, id: text, is_in_use: bool };
const busyAgainMs = 2_000;

/**
 * Makes the configured name the one in use; returns null on success. The configured name replaces another name if no
 * other installation uses that name. So an operator may add the company to a configuration that did not name it before.
 * The caller holds the lease of the configured name.
 */
export async function useCompanyName(ports: NamingPorts, lease: CompanyLease): Promise<NamingObstacle | null> {
  const { db, installation, answered, currency } = ports;
  if (answered.currency !== undefined && answered.currency !== currency) {
    // Amounts are sent without conversion, so the ERP's books must use the clinic's currency.
    const theirs = visible(answered.currency);
    return { for: deliveryErrors.currencyDiffers({ installation, theirs, ours: currency }), ms: null };
  }
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

/**
 * Stores the configured name, and marks it as in use if no name is. Returns the former names that the configured name
 * has to replace.
 */
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
  // A name that the ERP refuses is stored too, so that its units move to the new name once the configuration is corrected.
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

/** The error if an operator has to correct the configured name of a company; otherwise null. */
export async function namingFault(
  db: Connection,
  { installation, configured, answered }: Pick<NamingPorts, 'installation' | 'configured' | 'answered'>,
): Promise<PlainError | null> {
  const company = companyKey(configured);
  const identity = companyKey(answered);
  const own = await maybeRow(db, { identity: text }, 'select identity from erp_company_identity where company = ?', [
    company,
  ]);
  if (own !== null && own.identity !== identity) {
    const [named, now] = [shown(configured), shown(answered)];
    return deliveryErrors.companyMeansAnother({ installation, named, answered: now });
  }
  const inUse = (await namesOf(db, identity)).find(({ is_in_use }) => is_in_use);
  if (inUse === undefined || inUse.company === company) return null;
  const others = await othersNaming(db, installation, inUse.company);
  return others.length === 0 ? null : namedDifferently(installation, configured, inUse, others);
}

/** Moves everything that is stored under the former name to the new one, in one transaction and under both leases. */
async function replaceName(
  ports: NamingPorts,
  lease: CompanyLease,
  former: CompanyRef,
): Promise<NamingObstacle | null> {
  const { db, installation, holder, clock, signal, mayWorkMs, answered } = ports;
  const taken = await takeCompany(db, former, holder, { mayWorkMs });
  if (taken.lease === null) return { for: deliveryErrors.formerNameBusy(), ms: busyAgainMs };
  const { lease: formerLease, lookUpInMs } = taken;
  return keepLease({ db, clock, signal }, formerLease, async (): Promise<NamingObstacle | null> => {
    if (lookUpInMs !== null && lookUpInMs > 0) return { for: deliveryErrors.formerNameBusy(), ms: lookUpInMs };
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
  // Units that an earlier delivery was sending under the former name are looked up when the server can have finished.
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
  // The stored closed periods stay valid until the ERP is queried again.
  await execute(
    trx,
    `update erp_company c set periods = f.periods, periods_read_at = f.periods_read_at
     from erp_company f where c.company = ? and f.company = ? and c.periods is null`,
    [to, from],
  );
  await execute(trx, 'update erp_company_identity set is_in_use = false where company = ?', [from]);
  await execute(trx, 'update erp_company_identity set is_in_use = true where company = ?', [to]);
}

/** Key of the company that the installation was delivered to last; null if it is the same, or if there was none. */
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

function namedDifferently(
  installation: InstallationId,
  configured: CompanyRef,
  inUse: CompanyRef,
  others: readonly number[],
): PlainError {
  return deliveryErrors.companyNamedDifferently({
    installation,
    named: shown(configured),
    others: others.join(', '),
    isOne: others.length === 1 ? 1 : 0,
    theirs: shown(inUse),
  });
}

function shown({ url, id }: CompanyRef): string {
  return `“${visible(id)}” at ${visible(url)}`;
}
