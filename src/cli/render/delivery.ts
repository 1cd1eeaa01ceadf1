import { z } from 'zod';
import * as answer from '../../queries/answer.ts';

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
