import type { DraftEntry } from '../domain/entry.ts';
import { storable } from '../domain/text.ts';
import { receivables } from './entry-amounts.ts';
import type { Judgement, PostedBefore } from './types.ts';

type InForce = NonNullable<PostedBefore['inForce']>;

/** A changed name alone posts nothing (ACCOUNTING R8): it is remarked. A name that was erased on either side is no change. */
export function remarkingName(judgement: Judgement, entry: DraftEntry, inForce: InForce): Judgement {
  const [now, posted] = [payerName(entry), payerName(inForce)];
  if (now === null || posted === null || storable(now) === storable(posted)) return judgement;
  const message = `the payer’s name in the source is not the one in ${inForce.id} any more`;
  return {
    ...judgement,
    reports: [...judgement.reports, { code: 'payer_name_changed', document: entry.document, message }],
  };
}

/** The name of the payer snapshot, which stands on the line of the receivable, if there is one. */
function payerName({ lines }: Pick<DraftEntry, 'lines'>): string | null {
  const line = lines.find(({ role }) => receivables.includes(role)) ?? lines[0];
  return line?.party?.name ?? null;
}
