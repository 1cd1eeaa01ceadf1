// Shortens times in the workflows of the rounds' daemons, so that a killed worker's activity is retried after seconds
// instead of half a minute.

import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

const heartbeatTimeout = '6 seconds';
const longestRetryMs = 4_000;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      scheduleActivity(input, next) {
        const { options } = input;
        const hurried = {
          ...options,
          ...(options.heartbeatTimeout === undefined ? {} : { heartbeatTimeout }),
          ...(options.retry?.maximumInterval === undefined
            ? {}
            : { retry: { ...options.retry, maximumInterval: longestRetryMs } }),
        };
        return next({ ...input, options: hurried });
      },
    },
  ],
});
