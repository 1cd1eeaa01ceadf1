// practice-api: Department settings; Endpoints: Settings; Errors (period lock).
import { type Answer, type ApiRequest, booleanField, dateField, pathId, type Route } from '../http.ts';
import { ValidationProblem } from '../records.ts';

const path = 'settings/department/:id/';
const flags = [
  'automatic_financial_period_lock_enabled',
  'payment_cancel_set_date',
  'enable_communication_preferences',
] as const;

export const settingsRoutes: Route[] = [
  { method: 'GET', path, action: 'settings.retrieve', handle: (request) => guarded(request, () => {}) },
  {
    method: 'PATCH',
    path,
    action: 'settings.partial_update',
    handle: (request) => guarded(request, () => change(request)),
  },
];

const guarded = (request: ApiRequest, act: () => void): Answer => {
  if (request.quirks.departmentSettings === '403') {
    return { status: 403, body: { detail: 'You do not have permission to perform this action.' } };
  }
  const { clinic } = request;
  const department = clinic.department(pathId(request));
  act();
  return { status: 200, body: request.wire.settings(department, clinic.lockDate(department)) };
};

const change = ({ ids, body, clinic }: ApiRequest): void => {
  const department = clinic.department(ids[0] ?? 0);
  const changes = Object.fromEntries(
    flags.filter((flag) => body[flag] !== undefined).map((flag) => [flag, booleanField(body, flag)]),
  );
  const willLockItself =
    changes.automatic_financial_period_lock_enabled ?? department.automatic_financial_period_lock_enabled;
  if (body.financial_period_lock_date !== undefined) {
    if (willLockItself) {
      throw new ValidationProblem('financial_period_lock_date', 'Automatic financial period locking is enabled.');
    }
    department.financial_period_lock_date = dateField(body, 'financial_period_lock_date');
  }
  Object.assign(department, changes);
};
