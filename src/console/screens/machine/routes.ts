import { mailTrouble } from '../../../mail/outbox.ts';
import { databaseState, processes } from '../../../queries/machine.ts';
import { watchedSchedules, windowPaces } from '../../../sync/schedule-state.ts';
import { screenNames } from '../../../texts/console/console.ts';
import type { Answer, Route, SignedInRequest } from '../../route.ts';
import { machineView } from './view.ts';

/** Is the machinery well? */
export const machineRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/machine',
    access: { who: 'operate', in: 'any_installation' },
    audit: 'nothing',
    answer: show,
  },
];

/** Shows only the installations that the user operates, also of processes that serve others. */
async function show({ context, db, rights, now }: SignedInRequest): Promise<Answer> {
  const { config, version } = context;
  const ids = rights.where('operate');
  const shown = {
    ...{ now, version },
    installations: config.installations.filter(({ id }) => ids.includes(id)),
    processes: await processes(db, ids),
    database: await databaseState(db),
    schedules: await watchedSchedules(db, ids, config.temporal.taskQueue),
    paces: await windowPaces(db, ids, 0),
    mail: await mailTrouble(db, now),
  };
  return { page: { title: () => screenNames.machine, body: () => machineView(shown) } };
}
