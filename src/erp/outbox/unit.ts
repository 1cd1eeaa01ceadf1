import { bool, date, instant, integer, nullable, oneOf, type RowOf, text, uuid } from '../../db/columns.ts';

/**
 * The states of a unit of the general ledger on its way into an ERP. `sending`: a request is under way, or its sender has died.
 * `uncertain`: nobody knows whether the request took effect; it is looked up. `drafted`: a draft waits for the accountant.
 * `handed_over` and `acknowledged`: in a file. `cancelled_out`: an entry and its reversal of which neither was sent. `excluded`:
 * dated before `erp.from`.
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
 * Why a unit is uncertain. `no_answer`: its request ended without an answer. `refused`: the ERP refused it or its batch for a
 * reason that is known; `unknown`: for one that is not. `duplicate`: the ERP says that it has it. `unseen`: it was accepted, and
 * was not there when it was read back.
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
  needs_consent: bool,
  is_backlog: bool,
  not_before: nullable(instant),
  attempt_id: nullable(uuid),
  attempts: integer,
  answered: integer,
  sent_at: nullable(instant),
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
