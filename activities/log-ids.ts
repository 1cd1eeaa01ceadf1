import { asyncLocalStorage, type Context } from '@temporalio/activity';

/** What an activity is about, as every line of the log has it that is written while it runs. */
interface LogIds {
  installation?: number;
  window?: number;
}

const idsOf = new WeakMap<Context, LogIds>();

/** The ids of the activity that is running here; none outside of one. A line's own fields go before them. */
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

/** The same activities; each notes for the log what it is about: its input names the installation, and the window behind it. */
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
