import type { OutsideReason } from '../../../documents/outside-books.ts';
import { labelOf } from '../../../domain/installation-name.ts';
import { currentLanguage, shown } from '../../../languages/language.ts';
import { closedThroughOfAll } from '../../../ledger/close.ts';
import { type InstallationCondition, installationConditions } from '../../../queries/status.ts';
import type { CalendarDate, InstallationId } from '../../../terms.ts';
import { healthNames, clinicsTexts as texts } from '../../../texts/console/clinics.ts';
import { type Content, html } from '../../html.ts';
import { nextStep } from '../../parts/next-step.ts';
import { table } from '../../parts/table.ts';
import { ago } from '../../parts/times.ts';
import { verdictText } from '../../parts/verdict.ts';
import type { Answer, Route, SignedInRequest } from '../../route.ts';
import type { Rights } from '../../users/rights.ts';
import { reconcileForms } from '../actions/reconcile.ts';
import { windowForms } from '../actions/windows.ts';

/** The first screen: where must I do something today? */
export const clinicsRoutes: readonly Route[] = [
  { method: 'GET', path: '/', access: { who: 'signed_in' }, audit: 'nothing', answer: enter },
  {
    method: 'GET',
    path: '/clinics',
    access: { who: 'read_operations', in: 'any_installation' },
    audit: 'nothing',
    answer: show,
  },
];

async function enter({ rights }: SignedInRequest): Promise<Answer> {
  if (rights.where('read_operations').length > 0) return { redirect: '/clinics' };
  return { redirect: rights.may('manage_users', null) ? '/users' : '/account' };
}

async function show({ context, db, rights, now }: SignedInRequest): Promise<Answer> {
  const { config } = context;
  const ids = rights.where('read_operations');
  const chosen = config.installations.filter(({ id }) => ids.includes(id));
  const statuses = await installationConditions(
    {
      ...{ db, now, schedule: config.schedule, taskQueue: config.temporal.taskQueue },
      ...{ seals: false, reconcileBetween: config.reconcileBetween },
    },
    chosen,
  );
  const closed = await closedThroughOfAll(db, ids);
  return {
    page: {
      title: () => texts.title,
      body: () => {
        const problems = statuses.reduce((all, each) => all + each.problems, 0);
        return html`<p>${texts.summary({ clinics: statuses.length, problems })}</p>
          ${table({
            columns: [
              ...[{ title: texts.clinic }, { title: texts.health }, { title: texts.lastWindow }],
              ...[texts.held, texts.late, texts.refused, texts.toSend].map((title) => ({ title, isNumber: true })),
              ...[{ title: texts.closed }, { title: texts.verdict }, { title: texts.cause }],
            ],
            rows: statuses.map((status) => clinicRow(status, closed, now, rights)),
          })}`;
      },
    },
  };
}

function clinicRow(
  status: InstallationCondition,
  closed: ReadonlyMap<InstallationId, CalendarDate>,
  now: Date,
  rights: Rights,
): Content[] {
  const { installation: id, name, health, cause, delivery, verdict } = status;
  const label = labelOf({ id, name });
  const count = (...reasons: OutsideReason[]) =>
    Object.values(verdict.outside).reduce(
      (all, of) => all + reasons.reduce((counted, reason) => counted + (of.reasons[reason]?.documents ?? 0), 0),
      0,
    );
  return [
    html`<a href=${rights.may('read_books', id) ? `/${id}/month` : `/${id}/windows`}>${label}</a>`,
    html`<span class=${['ok', 'new', 'waiting'].includes(health) ? undefined : 'needed'}>${healthNames[health]}</span>`,
    html`${status.last_window === null ? texts.never : ago(status.last_window.opened_at, now, currentLanguage())}
      ${windowForms.nudge_windows.link(rights, id)}`,
    needed(count('held', 'missing_in_source')),
    needed(count('late', 'change_held')),
    needed(delivery?.refused ?? 0),
    delivery?.left ?? '',
    closed.get(id) ?? html`<span class="dim">${texts.notClosed}</span>`,
    html`${verdictText(verdict, now)} ${reconcileForms.reconcile_books.link(rights, id)}`,
    cause === null ? '' : html`${shown(cause.message)}<br />${nextStep(rights, id, status.next_step)}`,
  ];
}

/** A count that a person must act on, or nothing. */
function needed(count: number): Content {
  return count === 0 ? '' : html`<span class="needed">${count}</span>`;
}
