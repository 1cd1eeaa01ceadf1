import type { DraftEntry } from '../domain/entry.ts';
import { postgresText } from '../domain/text.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { receivables } from './entry-amounts.ts';
import type { Judgement, PostedBefore } from './types.ts';

type InForce = NonNullable<PostedBefore['inForce']>;

/**
 * Adds a remark if only the payer's name changed, which posts nothing (ACCOUNTING R8). An erased name is not a change.
 */
export function remarkingName(judgement: Judgement, entry: DraftEntry, inForce: InForce): Judgement {
  const [now, posted] = [payerName(entry), payerName(inForce)];
  if (now === null || posted === null || postgresText(now) === postgresText(posted)) return judgement;
  const message = postingFindings.payerNameChanged({ entryId: inForce.id });
  return {
    ...judgement,
    reports: [...judgement.reports, { code: 'payer_name_changed', document: entry.document, message }],
  };
}

/** The payer's name on the receivable line, or on the first line if there is no receivable. */
function payerName({ lines }: Pick<DraftEntry, 'lines'>): string | null {
  const line = lines.find(({ role }) => receivables.includes(role)) ?? lines[0];
  return line?.party?.name ?? null;
}
