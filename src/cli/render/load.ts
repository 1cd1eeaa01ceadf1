import type { LoadPlan } from '../../queries/load-estimate.ts';
import type { LoadEstimate } from '../../sync/load-estimate.ts';
import { streamNames } from '../../sync/streams.ts';
import { recordKinds } from '../../terms.ts';

/** A load in a line: `about 61 minutes: invoicerow is the limit (2600 invoices, … to load)`. */
export function loadText({ estimate, records }: LoadPlan): string {
  const toLoad = recordKinds.map((list) => `${records[list]} ${streamNames[list]}`).join(', ');
  return `${estimateText(estimate)} (${toLoad} to load)`;
}

/** A duration as an estimate: `about 40 seconds`, `about 61 minutes`, `about 5 hours 20 minutes`. */
export function about(seconds: number): string {
  const some = (n: number, unit: string) => `${n} ${unit}${n === 1 ? '' : 's'}`;
  if (seconds < 90) return `about ${some(Math.max(1, Math.round(seconds)), 'second')}`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `about ${some(minutes, 'minute')}`;
  const tens = Math.round(minutes / 10) * 10;
  const rest = tens % 60;
  return `about ${some(Math.floor(tens / 60), 'hour')}${rest === 0 ? '' : ` ${rest} minutes`}`;
}

/** An estimate in a line: `about 61 minutes: invoicerow is the limit`. */
export function estimateText({ seconds, limit }: LoadEstimate): string {
  return `${about(seconds)}: ${limit.action.replace(/\.list$/, '')} is the limit`;
}
