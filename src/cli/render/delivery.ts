import { z } from 'zod';
import { fileFormats } from '../../config/erp.ts';
import { visible, visibleIn } from '../../domain/text.ts';
import type { DeliveryStatus, UnitDelivery } from '../../queries/delivery-status.ts';
import { foreignCode } from '../../queries/installation-health.ts';
import * as answer from '../answer.ts';
import { count, instant } from './text.ts';

/** The delivery status of an installation. */
export const deliveryAnswer = z
  .strictObject({
    kind: z.string(),
    delivered: z.number(),
    left: z.number(),
    uncertain: z.number(),
    drafted: z.number(),
    unapproved: z.number(),
    unapproved_dates: z.strictObject({ from: answer.date, through: answer.date }).nullable(),
    refused: z.number(),
    oldest: answer.date.nullable(),
    last_answer_at: answer.instant.nullable(),
    last_error: z.strictObject({ code: z.string(), message: z.string(), at: answer.instant }).nullable(),
    not_before: answer.instant.nullable(),
    periods_read_at: answer.instant.nullable(),
    drafts_swept: z.number(),
    under_way: z.boolean(),
    in_doubt: z.number(),
    looks_up_at: answer.instant.nullable(),
    waiting_since: answer.instant.nullable(),
    paused: z.strictObject({ by: z.string(), reason: z.string(), at: answer.instant }).nullable(),
  })
  .meta({ id: 'delivery' });

const entries = (n: number) => count(n, 'entry', 'entries');

/** Why entries are not delivered yet. Null if none is left. */
export function leftText(status: DeliveryStatus): string | null {
  const parts: string[] = [];
  const why = waitText(status);
  if (status.left > 0) parts.push(`${entries(status.left)} not delivered yet${why === null ? '' : ` (${why})`}`);
  else if (status.paused) parts.push(why ?? '');
  if (status.unapproved > 0) parts.push(`${entries(status.unapproved)} waiting for \`vetledger deliver --approve\``);
  if (status.refused > 0) parts.push(`${entries(status.refused)} refused (see \`vetledger problems\`)`);
  return parts.length === 0 ? null : parts.join('; ');
}

function waitText({ paused, last_error: error, in_doubt: inDoubt, looks_up_at: at }: DeliveryStatus): string | null {
  if (paused) return `paused by ${visible(paused.by)}: ${visible(paused.reason)}`;
  // An earlier error of another kind is not the reason for the wait.
  if (inDoubt > 0 && error?.code !== foreignCode) {
    return `${entries(inDoubt)} sent by a delivery that ended without an answer; looked up ${at ? `not before ${instant(at)}` : 'by the next delivery'}`;
  }
  return error && visible(error.message);
}

/** The lines of `status` about the delivery. */
export function deliveryLines(found: DeliveryStatus): string[] {
  const status = visibleIn(found);
  const title = '  delivery      ';
  const margin = ' '.repeat(title.length);
  const parts = [
    `${status.delivered} delivered`,
    `${status.left} left${status.oldest ? `, the oldest of ${status.oldest}` : ''}`,
    ...(status.uncertain > 0 ? [`${status.uncertain} of them in doubt`] : []),
    ...(status.drafted > 0 ? [`${count(status.drafted, 'draft')} for the accountant to post`] : []),
    ...(status.unapproved > 0 ? [`${status.unapproved} waiting for approval`] : []),
    `${status.refused} refused`,
  ];
  const lines = [`${title}${parts.join(', ')}`];
  if (status.last_answer_at) {
    const periods = status.periods_read_at
      ? `; its closed periods are those of ${instant(status.periods_read_at)}`
      : '';
    const isFile = fileFormats.some((format) => format === status.kind);
    const what = isFile ? `the last file (${status.kind}) was written` : `the ERP (${status.kind}) last answered`;
    lines.push(`${margin}${what} ${instant(status.last_answer_at)}${periods}`);
  }
  if (status.in_doubt > 0) {
    const when = status.looks_up_at ? `not before ${instant(status.looks_up_at)}` : 'by the next delivery';
    lines.push(
      `${margin}${entries(status.in_doubt)} sent by a delivery that ended without an answer, looked up ${when}`,
    );
  }
  if (status.drafts_swept > 0) {
    lines.push(`${margin}drafts that the ERP made too late, and that were deleted: ${status.drafts_swept}`);
  }
  if (status.last_error) {
    const { message, at } = status.last_error;
    lines.push(`${margin}since then, ${instant(at)}: ${message}`);
  }
  if (status.paused) {
    const { by, reason, at } = status.paused;
    lines.push(`${margin}paused by ${by} ${instant(at)}: ${reason}`);
  }
  return lines;
}

/** The state of a unit as text. */
export const stateTexts: Record<UnitDelivery['state'], string> = {
  pending: 'waits for its delivery',
  sending: 'is being sent',
  uncertain: 'in doubt: it was sent, but the ERP gave no clear answer',
  drafted: 'is a draft in the ERP that the accountant has not posted yet',
  delivered: 'delivered',
  refused: 'refused',
  handed_over: 'written into a file',
  acknowledged: 'written into a file that was imported',
  cancelled_out: 'settled against its reversal: neither was sent',
  excluded: 'not delivered: excluded from the delivery',
};

/** The lines of `explain` about the delivery of an entry; `what` is their title. */
export function unitDeliveryLines(found: UnitDelivery, what = 'to the ERP', at = instant): string[] {
  const { state, needsConsent, erpNumber, erpId, erpDate, settledAt, problem } = visibleIn(found);
  const parts = [
    state === 'pending' && needsConsent ? 'waits for `vetledger deliver --approve`' : stateTexts[state],
    ...(erpNumber === null ? (erpId === null ? [] : [`the ERP's record ${erpId}`]) : [`number ${erpNumber}`]),
    ...(erpDate === null ? [] : [`dated ${erpDate} there`]),
    ...(settledAt === null ? [] : [at(settledAt)]),
  ];
  return [
    `    ${what}: ${parts.join(', ')}`,
    ...(problem ? [`      ${problem.code}: ${problem.message}`, `      what to do: ${problem.todo}`] : []),
  ];
}
