import { mappingName } from '../bookkeeping/mapping-versions.ts';
import { type StoredUsage, storeUsage } from '../bookkeeping/stored-usage.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { loadChart } from '../config/mapping-files.ts';
import type { Connection } from '../db/rows.ts';
import { dateIn } from '../domain/dates.ts';
import type { Money } from '../domain/money.ts';
import { accountsNamed } from '../mapping/accounts-written.ts';
import type { Chart } from '../mapping/chart.ts';
import { checkAgainstChart, sharedAccounts } from '../mapping/check-chart.ts';
import { paymentTypeName } from '../mapping/payment-types.ts';
import { money } from '../mapping/propose-text.ts';
import { type MappingTargets, mappingTargets, type Target } from '../mapping/targets.ts';
import { storedSourceAccounts } from '../mirror/source-accounts.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { mappingShowTexts as texts } from '../texts/commands/mapping.ts';
import { roleMeanings } from '../texts/mapping/meanings.ts';
import { compareMapping, remarksOf } from './mapping-check.ts';
import type { AccountPorts } from './owed-as-revenue.ts';
import { sourceUsage } from './source-usage.ts';

/** `account` is null if the mapping gives none. `earlier` is the account of the first day, if rules by date changed it. */
interface ShownTarget {
  account: string | null;
  name: string | null;
  role: string | null;
  by: string | null;
  earlier: string | null;
  departments: (number | null)[];
  count: number;
}

interface ShownGroup {
  group: string | null;
  rate: string | null;
}

/** To which accounts a mapping posts the records of the source, with counts and amounts. */
export interface ShownTargets {
  revenue: (ShownTarget & ShownGroup & { source_account: string | null; source_name: string | null; net: string })[];
  vat: (ShownTarget & ShownGroup & { kind: string | null; base: string; vat: string })[];
  payments: (ShownTarget & {
    of: 'payment' | 'prepayment';
    payment_type: number | null;
    payment_type_name: string | null;
    amount: string;
  })[];
  roles: { role: string; meaning: string; account: string; name: string | null }[];
}

/** The mapping of an installation over the last 12 months, as `mapping show --json` prints it. */
export interface ShownMapping extends ShownTargets {
  installation: InstallationId;
  mapping: string;
  since: CalendarDate;
  warnings: string[];
}

interface Names {
  chart: Chart | null;
  /** Names in the practice software by account number. */
  practice: ReadonlyMap<string, string | null>;
}

/**
 * Shows to which accounts the installation's mapping posts the records of the last 12 months. Names come from the chart of the mapping,
 * and for the practice's own numbers from its list. Throws ConfigError if the chart cannot be read. With `stored`, the records are not
 * read again.
 */
export async function showMapping(
  ports: AccountPorts,
  books: InstallationConfig,
  now: Date,
  stored: StoredUsage | null = null,
): Promise<ShownMapping> {
  const { id, mapping, mappingPath, timezone } = books;
  const since = stored?.since ?? yearBefore(dateIn(timezone, now));
  const compared = await compareMapping(ports, books, mapping, since, stored?.usage);
  const chart = await loadChart(mapping, mappingPath);
  const practice = new Map((await storedSourceAccounts(ports.db, id))?.map((one) => [one.number, one.description]));
  const names = { chart: chart?.chart ?? null, practice };
  const written = [...accountsNamed(mapping), ...compared.accounts];
  return {
    installation: id,
    mapping: mappingName(books),
    since,
    ...shownTargets(mappingTargets(compared.usage, mapping), names),
    warnings: [
      ...compared.gaps.map(({ message, count, gross }) => texts.gap({ message, count, gross: money(gross) })),
      ...remarksOf(compared).map(({ message }) => message),
      ...sharedAccounts(written),
      ...faultsOf(written, names.chart).map(({ path, message }) => texts.fault({ path, message })),
    ],
  };
}

/** Reads what the records of the last 12 months use, and stores it for the console. */
export async function refreshUsage(db: Connection, installation: InstallationConfig, now: Date): Promise<void> {
  const since = yearBefore(dateIn(installation.timezone, now));
  await storeUsage(db, installation.id, { since, usage: await sourceUsage(db, installation, since) });
}

function faultsOf(written: ReturnType<typeof accountsNamed>, chart: Chart | null) {
  return chart === null ? [] : checkAgainstChart(written, chart);
}

function yearBefore(day: CalendarDate): CalendarDate {
  const [year = '', rest = ''] = [day.slice(0, 4), day.slice(4)];
  return `${Number(year) - 1}${rest === '-02-29' ? '-02-28' : rest}`;
}

/** The targets with the names of accounts. */
function shownTargets({ revenue, vat, payments, roles }: MappingTargets, names: Names): ShownTargets {
  const rateText = (rate: Money | null) => rate?.toFixed() ?? null;
  const nameOf = (account: string | null, source: string | null = null): string | null => {
    if (account === null) return null;
    return names.chart?.get(account)?.name ?? (account === source ? (names.practice.get(account) ?? null) : null);
  };
  const named = ({ account, role, by, earlier, departments, count }: Target, source: string | null = null) => {
    return { account, name: nameOf(account, source), role, by, earlier, departments, count };
  };
  return {
    revenue: revenue.map((one) => ({
      source_account: one.source_account,
      source_name: one.source_account === null ? null : (names.practice.get(one.source_account) ?? null),
      ...{ group: one.group, rate: rateText(one.rate), ...named(one, one.source_account), net: money(one.net) },
    })),
    vat: vat.map((one) => ({
      ...{ group: one.group, rate: rateText(one.rate), kind: one.kind, ...named(one) },
      ...{ base: money(one.base), vat: money(one.vat) },
    })),
    payments: payments.map((one) => ({
      ...{
        of: one.of,
        payment_type: one.type,
        payment_type_name: one.type === null ? null : paymentTypeName(one.type),
      },
      ...{ ...named(one), amount: money(one.amount) },
    })),
    roles: roles.map(({ role, account }) => ({ role, meaning: roleMeanings[role], account, name: nameOf(account) })),
  };
}
