import { z } from 'zod';
import type { ApiUse } from '../domain/api-use.ts';
import type { Trouble } from '../domain/trouble.ts';
import type { PlainError } from '../texts/plain-error.ts';

/** Schemas of JSON that several columns hold (`storedJson`). */
export const storedError: z.ZodType<PlainError> = z.object({ code: z.string(), message: z.string(), todo: z.string() });

export const storedUse: z.ZodType<ApiUse> = z.object({
  requests: z.number(),
  weight: z.number(),
  throttled: z.number(),
  waited_seconds: z.number(),
});

const instantText = z.iso.datetime();

export const storedTrouble: z.ZodType<Trouble> = z.object({
  error: storedError,
  times: z.int().positive(),
  since: instantText,
  at: instantText,
  failingSince: instantText,
});
