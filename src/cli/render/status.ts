import { visibleIn } from '../../domain/text.ts';
import type { ScrubStatus } from '../../queries/scrub.ts';
import type { InstallationStatus } from '../../queries/status.ts';
import { deliveryLines } from './delivery.ts';
import { bar, count, duration, instant, table } from './text.ts';

/** What `status` prints of one installation. */
export function statusText(found: InstallationStatus): string {
  const status = visibleIn(found);
  const { lag_seconds, synced_to, last_window, budgets, states } = status;
  const isSynced = synced_to !== null && lag_seconds !== null;
  const lines = [
    `Installation ${status.installation}`,
    `  synced to     ${isSynced ? `${instant(synced_to)}, ${duration(lag_seconds)} ago` : 'never'}`,
    `  last window   ${last_window ? `${last_window.outcome}, opened ${instant(last_window.opened_at)}` : 'none yet'}`,
  ];
  if (last_window?.error) lines.push(`                ${last_window.error.message}`);
  for (const { message } of last_window?.remarks ?? []) lines.push(`  remark        ${message}`);
  for (const [kind, byState] of Object.entries(states)) {
    const parts = Object.entries(byState).map(([state, n]) => `${n} ${state}`);
    lines.push(`  ${kind.padEnd(12)}  ${parts.join(', ') || 'none'}`);
  }
  lines.push(`  problems      ${status.problems === 0 ? 'none' : count(status.problems, 'document')}`);
  if (status.delivery) lines.push(...deliveryLines(status.delivery));
  if (status.seal) lines.push(`  seals         ${sealText(status.seal)}`);
  lines.push(...scrubLines(status.scrub));
  if (budgets.length > 0) lines.push('  rate budgets', indent(budgetTable(budgets)));
  lines.push(`  next step     ${status.next_step}`);
  return lines.join('\n');
}

function sealText({ sealed_at, seq, unsealed }: NonNullable<InstallationStatus['seal']>): string {
  const last = sealed_at ? `the last of ${instant(sealed_at)}, at link ${seq}` : 'none yet';
  const links = count(unsealed, 'link of the chains is', 'links of the chains are');
  return unsealed === 0 ? last : `${last}; ${links} not sealed until the next window ends`;
}

function scrubLines({
  state,
  days,
  began_at,
  finished_at,
  forecast_at,
  late,
  lists,
  last_pass,
}: ScrubStatus): string[] {
  const title = '  scrub         ';
  const margin = ' '.repeat(title.length);
  if (state === 'off') return [`${title}off (scrub_days: 0)`];
  if (began_at === null || lists === null)
    return [`${title}not begun; the daemon reads everything again every ${count(days, 'day')}`];
  const all = Object.values(lists);
  const records = all.reduce((read, list) => read + list.records, 0);
  const lines = [
    state === 'done'
      ? `${title}${count(records, 'record')} read again by ${instant(finished_at ?? began_at)}`
      : `${title}${count(records, 'record')} of about ${all.reduce((expected, list) => expected + list.of, 0)} read again since ${instant(began_at)}`,
    `${margin}${found(lists)}`,
  ];
  if (state === 'reading' && last_pass) lines.push(`${margin}the pass before it: ${found(last_pass.lists)}`);
  if (late) {
    const end = forecast_at ? `will end about ${instant(forecast_at)}` : 'has read nothing yet';
    lines.push(`${margin}it ${end}, not within ${count(days, 'day')}`);
  }
  return lines;
}

/** `2 invoices and 1 payment differed, 1 invoice is gone` */
function found(lists: NonNullable<ScrubStatus['lists']>): string {
  const names = (key: 'differing' | 'missing') =>
    Object.entries(lists)
      .filter(([, list]) => list[key] > 0)
      .map(([name, list]) => `${list[key]} ${name}`)
      .join(', ');
  const [differing, missing] = [names('differing'), names('missing')];
  if (differing === '' && missing === '') return 'nothing differed from the mirror';
  return [differing && `differed unseen: ${differing}`, missing && `gone from the source: ${missing}`]
    .filter(Boolean)
    .join('; ');
}

function budgetTable(budgets: InstallationStatus['budgets']): string {
  return table(
    ['action', '', 'used', 'free', 'of', ''],
    budgets.map((budget) => [
      budget.action,
      bar(budget),
      budget.used,
      budget.free,
      budget.limit_now,
      [
        budget.limit_now < budget.limit ? `lowered from ${budget.limit} after a 429` : '',
        budget.blocked_until
          ? `blocked until ${instant(budget.blocked_until)}: the source asked for it (Retry-After)`
          : '',
        budget.waiting > 0 ? `${count(budget.waiting, 'process', 'processes')} waiting` : '',
      ]
        .filter(Boolean)
        .join(', '),
    ]),
  );
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
