// practice-api: Department settings; Endpoints: Settings; Errors (period lock). Choices of the sandbox: the field
// `automatic_financial_period_lock_day` is the day of the month on which the automatic lock advances, and requests can
// write it. From that day on (the last day in a shorter month) the lock date is the first of the month; before it, the
// first of the month before. A lock date that was reached stays when automatic locking is switched off.
import { z } from 'zod';
import { type Answer, forbidden } from '../http/answer.ts';
import { answer, boolean, date, id, integer, url } from '../http/fields.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { ValidationProblem } from '../records.ts';

const section = 'Settings';
const permission = 'Settings: Departments';
const path = 'settings/department/:id/';

const record = answer({
  id: id(),
  url: url(),
  department: url(),
  financial_period_lock_date: z.string().nullable(),
  automatic_financial_period_lock_enabled: z.boolean(),
  automatic_financial_period_lock_day: z.int().min(1).max(31),
  payment_cancel_set_date: z.boolean(),
  enable_communication_preferences: z.boolean(),
});

const changes = z.object({
  financial_period_lock_date: date().nullish(),
  automatic_financial_period_lock_enabled: boolean().optional(),
  automatic_financial_period_lock_day: integer({ min: 1, max: 31 }).optional(),
  payment_cancel_set_date: boolean().optional(),
  enable_communication_preferences: boolean().optional(),
});

const guarded = (request: ApiRequest, act: () => void): Answer => {
  if (request.quirks.departmentSettings === '403') return forbidden();
  const { clinic } = request;
  const department = clinic.department(pathId(request));
  act();
  return { status: 200, body: request.wire.settings(department, clinic.lockDate(department)) };
};

const change = ({ ids, body, clinic }: ApiRequest<unknown, z.output<typeof changes>>): void => {
  const department = clinic.department(ids[0] ?? 0);
  const { financial_period_lock_date: lockDate, ...flags } = body;
  const willLockItself =
    flags.automatic_financial_period_lock_enabled ?? department.automatic_financial_period_lock_enabled;
  if (lockDate !== undefined) {
    if (willLockItself) {
      throw new ValidationProblem('financial_period_lock_date', 'Automatic financial period locking is enabled.');
    }
    department.financial_period_lock_date = lockDate;
  } else if (department.automatic_financial_period_lock_enabled && !willLockItself) {
    department.financial_period_lock_date = clinic.lockDate(department);
  }
  for (const [flag, value] of Object.entries(flags))
    if (value !== undefined) Object.assign(department, { [flag]: value });
};

export const settingsRoutes: RouteSpec[] = [
  route({
    ...{ method: 'GET', path, action: 'settings.retrieve', summary: 'Settings of a department', section, permission },
    answers: { 200: record },
    handle: (request) => guarded(request, () => {}),
  }),
  route({
    ...{ method: 'PATCH', path, action: 'settings.partial_update', summary: 'Change settings', section, permission },
    body: changes,
    answers: { 200: record },
    handle: (request) =>
      guarded(request, () => {
        change(request);
        request.clinic.noteChange('department', pathId(request));
      }),
  }),
];
