import { bool, date, instant, integer, nullable, oneOf, type RowOf, text, uuid } from '../../db/columns.ts';

/**
 * The states of a unit of the general ledger on its way to the ERP. `sending`: a request is running, or its process has
 * ended. `uncertain`: it is in doubt whether the request took effect, so it is looked up. `drafted`: a draft waits for
 * the accountant. `handed_over` and `acknowledged`: the unit is in a file. `cancelled_out`: an entry or its reversal,
 * neither of which was sent. `excluded`: dated before `erp.from`, or undone before it was sent.
 */
export const unitStates = [
  'pending',
  'sending',
  'uncertain',
  'drafted',
  'delivered',
  'refused',
  'handed_over',
  'acknowledged',
  'cancelled_out',
  'excluded',
] as const;
export type UnitState = (typeof unitStates)[number];

export const unitKinds = ['entry', 'daily_summary'] as const;
export type UnitKind = (typeof unitKinds)[number];

/**
 * The reason why a unit is in doubt. `no_answer`: its request ended without an answer. `refused`: the ERP refused it or
 * its batch for a known reason. `unknown`: for an unknown reason. `duplicate`: the ERP says that it has the key.
 * `unseen`: the ERP accepted it, but did not show it when it was read back.
 */
export const doubts = ['no_answer', 'refused', 'unknown', 'duplicate', 'unseen'] as const;
export type Doubt = (typeof doubts)[number];

/** The columns of `erp_unit`. */
export const unitShape = {
  installation: integer,
  unit_id: text,
  kind: oneOf(unitKinds),
  seq: integer,
  unit_date: date,
  follows: nullable(text),
  reverses: nullable(text),
  erp_key: text,
  company: text,
  state: oneOf(unitStates),
  needs_approval: bool,
  is_backlog: bool,
  not_before: nullable(instant),
  attempt_id: nullable(uuid),
  attempts: integer,
  answered: integer,
  sent_at: nullable(instant),
  first_sent_at: nullable(instant),
  doubt: nullable(oneOf(doubts)),
  batch_limit: nullable(integer),
  unknown_refusals: integer,
  erp_id: nullable(text),
  erp_number: nullable(text),
  erp_date: nullable(date),
  batch: nullable(integer),
  problem_code: nullable(text),
  problem_message: nullable(text),
  problem_since: nullable(instant),
  settled_at: nullable(instant),
};

/** A unit in the outbox (table `erp_unit`). */
export type OutboxUnit = RowOf<typeof unitShape>;
