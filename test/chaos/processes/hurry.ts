// In the workflows of the rounds' daemons: a killed worker's activity is given to another one after seconds, not after half a minute.

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
