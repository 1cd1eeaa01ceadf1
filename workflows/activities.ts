import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { activityTexts, workflowTexts } from '../src/texts/temporal.ts';

const summaries: Record<keyof Activities, string> = activityTexts;

/** The activities with one set of options. Each one shows its summary. */
export function activitiesAs(options: ActivityOptions): ActivityInterfaceFor<Activities> {
  const plain = proxyActivities<Activities>(options);
  return new Proxy(plain, {
    get(target, name: keyof Activities) {
      const activity = target[name] as {
        executeWithOptions(with_: ActivityOptions, args: unknown[]): Promise<unknown>;
      };
      return (...args: unknown[]) => activity.executeWithOptions({ summary: summaryOf(name, args) }, args);
    },
  });
}

/** If the third argument names a list, the summary includes it. */
function summaryOf(name: keyof Activities, [, pulls, list]: unknown[]): string {
  if (name === 'openWindow' && pulls === true) return activityTexts.openAndPull;
  const summary = summaries[name];
  return typeof list === 'string' ? workflowTexts.activityWithList({ summary, list }) : summary;
}
