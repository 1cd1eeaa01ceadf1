import { asyncLocalStorage, type Context } from '@temporalio/activity';

/** The ids that every log line of a running activity carries. */
interface LogIds {
  installation?: number;
  window?: number;
}

const idsOf = new WeakMap<Context, LogIds>();

/** The ids of the running activity; empty outside of one. Fields of the log line itself take precedence. */
export function logIds(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { workflowExecution, activityType, attempt } = context.info;
  return {
    ...idsOf.get(context),
    ...(workflowExecution && { workflow_id: workflowExecution.workflowId, run_id: workflowExecution.runId }),
    activity: activityType,
    ...(attempt > 1 ? { attempt } : {}),
  };
}

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Wraps the activities: each one sets its log ids from its arguments. The input holds the installation, the second
 * argument the window.
 */
export function withLogIds<Activities extends Record<string, Activity>>(activities: Activities): Activities {
  const noted = Object.entries(activities).map(([name, activity]) => [
    name,
    (...args: never[]) => {
      const context = asyncLocalStorage.getStore();
      if (context !== undefined) idsOf.set(context, idsIn(args));
      return activity(...args);
    },
  ]);
  return Object.fromEntries(noted) as Activities;
}

function idsIn([input, window]: unknown[]): LogIds {
  const installation = numberIn(input, 'installation');
  const id = numberIn(window, 'id');
  return { ...(installation === null ? {} : { installation }), ...(id === null ? {} : { window: id }) };
}

export function numberIn(value: unknown, key: string): number | null {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : null;
  return typeof found === 'number' ? found : null;
}
