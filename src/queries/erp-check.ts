import { type ErpConfig, isApiTarget, isFileTarget } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import { businessDate } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { Money } from '../domain/money.ts';
import { storeErpAccountNames } from '../erp/account-names.ts';
import { checkPlan, mappingFaults, type ValuesInUse } from '../erp/check-plan.ts';
import { namingFault } from '../erp/company-identity.ts';
import type { Delivery } from '../erp/delivery.ts';
import { loginTodo } from '../erp/login/login-problems.ts';
import { oldestOpenDate } from '../erp/outbox/outbox-queries.ts';
import { type CheckResult, ErpError } from '../erp/port.ts';
import { assumedFacts } from '../erp/provenance.ts';
import { right } from '../erp/targets/api/check.ts';
import { fileFormat } from '../erp/targets/files/formats.ts';
import { provenanceOf } from '../erp/targets/provenance.ts';
import { usedLines } from '../ledger/used-lines.ts';
import {
  type Found,
  isUnmapped,
  type LookUp,
  paymentAccount,
  revenueAccount,
  soldRole,
  vatAccount,
} from '../mapping/look-ups.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import type { SourceUsage } from '../mapping/source-usage.ts';
import type { InstallationId, LineRole } from '../terms.ts';
import { type ErpProblemCode, erpProblemCatalogue } from '../texts/erp-problems.ts';
import { erpCheckNames, erpCheckTodos, erpVatDue } from '../texts/findings/erp-check-results.ts';
import { sourceUsage } from './source-usage.ts';

/** Whether an installation's ERP has each thing that entries need. */
export interface ErpCheck {
  installation: InstallationId;
  kind: ErpConfig['kind'];
  results: CheckResult[];
}

export interface CheckPorts {
  db: Db;
  delivery: Delivery;
  clock: () => Date;
  signal: AbortSignal;
}

/** Time limit of a check. */
const longestMs = 10 * 60_000;

/**
 * Compares what an installation's books and source use with its ERP, translated by a mapping. With `writes`, also
 * creates test entries and deletes them. A fault is returned as a result, not thrown.
 */
export async function checkErp(
  { db, delivery, clock, signal }: CheckPorts,
  installation: InstallationConfig,
  mapping: Mapping,
  { writes, withBooks }: { writes: boolean; withBooks: boolean },
): Promise<ErpCheck> {
  const { id, erp } = installation;
  const capabilities = delivery.capabilities(installation);
  const { plan, lacking } = await planOf({ db, delivery, clock }, installation, mapping, { writes, withBooks });
  const results: CheckResult[] = lacking.map(({ code, message }) => lackingResult(code as ErpProblemCode, message));
  if (erp.kind === 'datev' && erp.options.cashAccounting && mapping.policies.vat_due !== null)
    results.push({ name: 'vat_due', ok: false, ...erpVatDue });
  results.push(...mappingFaults(mapping, capabilities));
  if (isFileTarget(erp)) {
    const problems = fileFormat(erp, { ...installation, mapping }).problemsOf(plan);
    results.push(...problems.map(({ code, message }) => lackingResult(code as ErpProblemCode, message, erp.kind)));
  } else {
    const stop = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
    try {
      const target = delivery.target(installation);
      const request = { signal: stop, priority: 0 };
      for await (const result of target.check(plan, request)) results.push(result);
      const accounts = plan.accounts.map(({ account }) => account);
      // An ERP that does not answer this was already reported above.
      const names = await target.accountNames?.(accounts, request).catch(() => null);
      if (names) await storeErpAccountNames(db, id, names);
      for (const { name, at } of (await target.expiries?.(request).catch(() => [])) ?? [])
        results.push(
          right(erpCheckNames.credentials, erpCheckNames.ends({ name, day: at.toISOString().slice(0, 10) })),
        );
      const answered = await target.identify?.(request).catch(() => null);
      const fault = answered && (await namingFault(db, { installation: id, configured: target.company, answered }));
      if (fault) results.push({ name: 'erp.company', ok: false, message: fault.message, todo: fault.todo });
    } catch (error) {
      signal.throwIfAborted();
      results.push(failed(error));
    }
  }
  if (isApiTarget(erp)) {
    const facts = assumedFacts(provenanceOf(erp)).join(', ');
    if (facts !== '') results.push(right(erpCheckNames.facts, erpCheckNames.assumed({ facts })));
  }
  const { error: foreign } = await delivery.foreign(installation, signal);
  if (foreign !== null) {
    results.push({ name: erpCheckNames.foreign, ok: false, message: foreign.message, todo: foreign.todo });
  }
  return { installation: id, kind: erp.kind, results };
}

/** The ERP's records that an installation's entries need. The first date of the plan is today. */
export async function planOf(
  { db, delivery, clock }: Omit<CheckPorts, 'signal'>,
  installation: InstallationConfig,
  mapping: Mapping,
  { writes, withBooks }: { writes: boolean; withBooks: boolean },
): Promise<ReturnType<typeof checkPlan>> {
  const { id, timezone, currency } = installation;
  const used = valuesInUse(await sourceUsage(db, installation), mapping);
  if (withBooks) addBooks(used, await usedLines(db, id));
  if (installation.postingMode === 'daily_summary') used.kinds.push('daily_summary');
  const today = businessDate(clock().toISOString(), timezone);
  const dates = [today, await oldestOpenDate(db, id)].filter((date) => date !== null);
  return checkPlan(mapping, used, { capabilities: delivery.capabilities(installation), currency, dates, writes });
}

function lackingResult(code: ErpProblemCode, message: string, what = 'mapping'): CheckResult {
  const { sentence, todo } = erpProblemCatalogue[code];
  return { name: erpCheckNames.lacking({ what, message }), ok: false, message: sentence, todo };
}

/** The result of a check that could not continue: the ERP cannot be used at all. */
function failed(error: unknown): CheckResult {
  const name = 'connection';
  if (error instanceof UserError) return { name, ok: false, message: error.message, todo: error.todo };
  if (!(error instanceof ErpError)) throw error;
  const todos: Partial<Record<ErpError['means'], string>> = erpCheckTodos;
  return {
    name,
    ok: false,
    message: error.message,
    todo: loginTodo(error) ?? todos[error.means] ?? erpCheckTodos.other,
  };
}

type Taxed = NonNullable<ValuesInUse['accounts'][number]['vat']> | null;

/**
 * The accounts, taxes and other names that this mapping gives the source's documents. Values without an account are
 * left out: their documents are held, and `mapping check` reports them.
 */
function valuesInUse({ rows, money }: SourceUsage, mapping: Mapping): ValuesInUse {
  const used: ValuesInUse = { accounts: [], vat: [], dimensions: [], kinds: [] };
  const add = (found: LookUp<Found & { role?: LineRole }>, role: LineRole, vat: Taxed = null) => {
    if (!isUnmapped(found)) used.accounts.push({ account: found.account, role: found.role ?? role, vat });
  };
  for (const { account, department, dimensions, internal, vat, hasNet, hasVat } of rows) {
    // A VAT group that is posted to a liability is outside VAT, and delivered without a tax code.
    const isOutside = soldRole(mapping, account, department, { dimensions, internal, vat }) !== null;
    const taxed = { group: vat.name, rate: vat.rate };
    if (hasNet) {
      const found = revenueAccount(mapping, account, department, { dimensions, internal, vat });
      add(found, 'revenue', isOutside ? null : taxed);
      used.dimensions.push(...valuesOf(department, dimensions, internal));
    }
    if (hasVat) {
      const accounts = vat.account === null ? [] : [vat.account];
      add(vatAccount(mapping, { name: vat.name, rate: vat.rate, accounts }, department), 'vat', taxed);
    }
    if ((hasNet && !isOutside) || hasVat) used.vat.push(taxed);
  }
  if (rows.length > 0) used.kinds.push('invoice');
  for (const { kind, type, department } of money) {
    if (type !== null) add(paymentAccount(mapping, type, department), 'other_clearing');
    used.kinds.push(kind);
  }
  return used;
}

function addBooks(used: ValuesInUse, lines: Awaited<ReturnType<typeof usedLines>>): void {
  for (const line of lines) {
    const { role } = line;
    used.kinds.push(line.posting_mode === 'document' ? line.kind : 'daily_summary');
    const hasCode = line.has_vat && (role === 'revenue' || role === 'vat');
    const vat = hasCode
      ? { group: line.vat_group, rate: line.vat_rate === null ? null : new Money(line.vat_rate) }
      : null;
    used.accounts.push({ account: line.account, role, vat });
    if (vat !== null) used.vat.push(vat);
    if (role !== 'revenue' && role !== 'rounding') continue;
    const internal = {
      account: line.internal_account,
      dimension1: line.internal_dimension_1,
      dimension2: line.internal_dimension_2,
    };
    const dimensions = [line.dimension_1, line.dimension_2, line.dimension_3] as const;
    used.dimensions.push(...valuesOf(line.department_id, dimensions, internal));
  }
}

function valuesOf(
  department: number | null,
  [first, second, third]: readonly [string | null, string | null, string | null],
  internal: { account: string | null; dimension1: string | null; dimension2: string | null },
): ValuesInUse['dimensions'] {
  const values: Record<MappedDimension, string | null> = {
    department: department === null ? null : String(department),
    dimension_1: first,
    dimension_2: second,
    dimension_3: third,
    internal_account: internal.account,
    internal_dimension_1: internal.dimension1,
    internal_dimension_2: internal.dimension2,
  };
  return Object.entries(values).map(([dimension, value]) => ({
    dimension: dimension as MappedDimension,
    value: value?.trim() ?? '',
  }));
}
