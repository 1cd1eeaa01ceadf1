import { fileFormats } from '../config/erp.ts';
import { visible, visibleIn } from '../domain/text.ts';
import { shown } from '../languages/language.ts';
import type { DeliveryStatus } from '../queries/delivery-status.ts';
import { foreignCode } from '../queries/installation-health.ts';
import { deliveryTexts as texts } from '../texts/commands/delivery.ts';
import { fieldTitles, labels } from '../texts/commands/labels.ts';
import { count, type Field, type TimeText } from './words.ts';

const entries = (n: number) => count(n, 'entry');

/** The reason why entries are not delivered yet. Null if none is left. */
export function leftText(status: DeliveryStatus, at: TimeText): string | null {
  const parts: string[] = [];
  const why = waitText(status, at);
  if (status.left > 0) parts.push(texts.notDelivered({ entries: entries(status.left), why }));
  else if (status.paused) parts.push(why ?? '');
  if (status.unapproved > 0) parts.push(texts.needApproval({ entries: entries(status.unapproved) }));
  if (status.refused > 0) parts.push(texts.refused({ entries: entries(status.refused) }));
  return parts.length === 0 ? null : parts.join('; ');
}

function waitText(
  { paused, last_error: error, in_doubt: inDoubt, looks_up_at: from }: DeliveryStatus,
  at: TimeText,
): string | null {
  if (paused) return texts.paused({ by: visible(paused.by), reason: visible(paused.reason) });
  // An earlier error of another kind is not the reason for the wait.
  if (inDoubt > 0 && error?.code !== foreignCode) {
    return texts.unanswered({ entries: entries(inDoubt), when: lookUpText(from, at) });
  }
  return error && visible(error.message);
}

function lookUpText(from: Date | null, at: TimeText): string {
  return from ? texts.notBefore({ at: at(from) }) : texts.byNextDelivery;
}

/** What `status` shows of the delivery. */
export function deliveryFields(found: DeliveryStatus, at: TimeText): Field[] {
  const status = visibleIn(found);
  const parts = [
    labels.delivered({ count: status.delivered }),
    texts.left(status),
    ...(status.uncertain > 0 ? [texts.inDoubt({ count: status.uncertain })] : []),
    ...(status.drafted > 0 ? [texts.drafts({ drafts: count(status.drafted, 'draft') })] : []),
    ...(status.unapproved > 0 ? [texts.waiting({ count: status.unapproved })] : []),
    labels.refused({ count: status.refused }),
  ];
  const lines = [parts.join(', ')];
  if (status.last_answer_at) {
    const periods = status.periods_read_at ? texts.closedPeriods({ at: at(status.periods_read_at) }) : '';
    const isFile = fileFormats.some((format) => format === status.kind);
    const answered = { kind: status.kind, at: at(status.last_answer_at) };
    lines.push(`${isFile ? texts.fileWritten(answered) : texts.erpAnswered(answered)}${periods}`);
  }
  if (status.in_doubt > 0) {
    const when = lookUpText(status.looks_up_at, at);
    lines.push(texts.unanswered({ entries: entries(status.in_doubt), when }));
  }
  if (status.drafts_swept > 0) {
    lines.push(texts.draftsSwept({ count: status.drafts_swept }));
  }
  if (status.last_error) {
    const { message, at: since } = status.last_error;
    lines.push(texts.failedSince({ at: at(since), message: shown(message) }));
  }
  if (status.paused) {
    const { by, reason, at: since } = status.paused;
    lines.push(texts.pausedAt({ by, reason, at: at(since) }));
  }
  return lines.map((line, n): Field => [n === 0 ? fieldTitles.delivery : '', line]);
}
