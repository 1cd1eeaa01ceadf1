import type { LoadPlan } from '../../queries/load-estimate.ts';
import { estimateText } from '../../sync/estimate.ts';
import { streamNames } from '../../sync/streams.ts';
import { recordKinds } from '../../terms.ts';

/** A load in a line: `about 61 minutes: invoicerow is the limit (2600 invoices, … to load)`. */
export function loadText({ estimate, records }: LoadPlan): string {
  const toLoad = recordKinds.map((list) => `${records[list]} ${streamNames[list]}`).join(', ');
  return `${estimateText(estimate)} (${toLoad} to load)`;
}
