import { z } from 'zod';

/**
 * What `vetledger erp probe` measured on a demo company: fields of the capability record on which the safety of a
 * delivery depends. Absent fields were not measured.
 */
export const measuredFacts = z.strictObject({
  'key.unique': z.enum(['enforced', 'none']).optional(),
  'key.duplicate_reply': z.enum(['refused', 'replayed', 'overwrites', 'doubled']).optional(),
  'key.lookup_lag_seconds': z.int().nonnegative().optional(),
  'request_id.on_repeat': z.enum(['refused', 'replayed', 'ignored']).optional(),
  'doubt.server_may_work_seconds': z.int().positive().optional(),
  'periods.on_locked': z.enum(['refused', 'redated', 'warned']).optional(),
  imbalance: z.enum(['refused', 'extra_line', 'within_tolerance']).optional(),
});
export type MeasuredFacts = z.infer<typeof measuredFacts>;

/** The file that `vetledger erp probe` writes. */
export const measuredFile = z.strictObject({
  erp: z.string(),
  url: z.string(),
  company: z.string(),
  measured_at: z.iso.datetime(),
  facts: measuredFacts,
});
export type MeasuredFile = z.infer<typeof measuredFile>;
