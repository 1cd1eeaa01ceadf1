import { rowsAsArrays } from '../../db/bulk.ts';
import { instant, text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { closedInErpCode } from './cancel-out.ts';
import type { Doubt } from './unit.ts';

/**
 * Marks units as being sent, with the id of the attempt. Returns the units that may still be sent, since some may have
 * been excluded meanwhile.
 */
export async function noteSending(
  trx: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
  attemptId: string,
): Promise<{ unit_id: string; first_sent_at: Date }[]> {
  return rows(
    trx,
    { unit_id: text, first_sent_at: instant },
    `update erp_unit set state = 'sending', attempt_id = ?::uuid, attempts = attempts + 1, sent_at = clock_timestamp(),
       first_sent_at = coalesce(first_sent_at, clock_timestamp()), not_before = null
     where installation = ? and unit_id = any(?::text[]) and state in ('pending', 'uncertain', 'sending')
     returning unit_id, first_sent_at`,
    [attemptId, installation, unitIds],
  );
}

/** The facts that are known about a unit's entry in the ERP. */
export interface InErp {
  id: string;
  number: string | null;
  date: CalendarDate;
}

/** The outcome of a request or look-up for a unit. */
export type Outcome = { unitId: string } & (
  | { state: 'delivered' | 'handed_over'; inErp: InErp | null }
  | { state: 'drafted'; inErp: InErp; lookAgainMs: number }
  | { state: 'refused'; code: string; message: string; inErp: InErp | null }
  /** The unit is sent again, at once or later. `last`: its last refusal. */
  | {
      state: 'pending';
      isAnswered: boolean;
      unknownRefusals: number;
      batchLimit: number | null;
      waitMs: number;
      last: { code: string; message: string } | null;
    }
  /** The unit is looked up later. */
  | {
      state: 'uncertain';
      doubt: Doubt;
      isAnswered: boolean;
      unknownRefusals: number;
      batchLimit: number | null;
      lookUpInMs: number;
      last: { code: string; message: string } | null;
    }
);

const outcomeTypes = {
  unit_id: 'text',
  state: 'text',
  wait_seconds: 'double precision',
  doubt: 'text',
  is_answered: 'boolean',
  unknown_refusals: 'integer',
  batch_limit: 'integer',
  erp_id: 'text',
  erp_number: 'text',
  erp_date: 'date',
  problem_code: 'text',
  problem_message: 'text',
};

/** Records the outcomes of units in one statement. */
export async function recordOutcomes(
  trx: Connection,
  installation: InstallationId,
  outcomes: readonly Outcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const { from, bindings } = rowsAsArrays('ended', outcomeTypes, outcomes.map(outcomeRow));
  await execute(
    trx,
    // The ERP's id, number and date stay if the outcome does not contain them. A unit in doubt that was never sent may be in the
    // ERP, for instance as an adopted entry. If it is refused, it counts as sent, so that a retry looks it up first.
    `update erp_unit u set state = ended.state, doubt = ended.doubt,
       not_before = case when ended.wait_seconds is not null then clock_timestamp() + make_interval(secs => ended.wait_seconds) end,
       sent_at = case when ended.state = 'uncertain' then u.sent_at end,
       attempts = case when u.state = 'uncertain' and ended.state = 'refused' then greatest(u.attempts, 1) else u.attempts end,
       answered = u.answered + case when ended.is_answered then 1 else 0 end,
       unknown_refusals = ended.unknown_refusals, batch_limit = ended.batch_limit,
       erp_id = case when ended.state in ('delivered', 'drafted', 'refused') then ended.erp_id else u.erp_id end,
       erp_number = ended.erp_number, erp_date = ended.erp_date,
       problem_code = ended.problem_code, problem_message = ended.problem_message,
       problem_since = case when ended.problem_code is not null then coalesce(u.problem_since, clock_timestamp()) end,
       settled_at = case when ended.state in ('delivered', 'handed_over') then clock_timestamp() end,
       late_since = coalesce(u.late_since,
         case when ended.state = 'refused' and ended.problem_code = ? then clock_timestamp() end)
     from ${from}
     where u.installation = ? and u.unit_id = ended.unit_id and u.unit_id = any(?::text[])
       and u.state in ('pending', 'sending', 'uncertain', 'drafted')`,
    [closedInErpCode, ...bindings, installation, outcomes.map(({ unitId }) => unitId)],
  );
}

function outcomeRow(outcome: Outcome) {
  const empty = {
    ...{ unit_id: outcome.unitId, state: outcome.state, wait_seconds: null, doubt: null, is_answered: false },
    ...{ unknown_refusals: 0, batch_limit: null, erp_id: null, erp_number: null, erp_date: null },
    ...{ problem_code: null, problem_message: null },
  };
  switch (outcome.state) {
    case 'delivered':
    case 'handed_over':
      return { ...empty, ...inErpRow(outcome.inErp) };
    case 'drafted':
      return { ...empty, ...inErpRow(outcome.inErp), wait_seconds: outcome.lookAgainMs / 1000 };
    case 'refused':
      return { ...empty, ...inErpRow(outcome.inErp), problem_code: outcome.code, problem_message: outcome.message };
    case 'pending':
      return { ...empty, ...trialRow(outcome), wait_seconds: outcome.waitMs > 0 ? outcome.waitMs / 1000 : null };
    case 'uncertain':
      return { ...empty, ...trialRow(outcome), doubt: outcome.doubt, wait_seconds: outcome.lookUpInMs / 1000 };
  }
}

function inErpRow(inErp: InErp | null) {
  return { erp_id: inErp?.id ?? null, erp_number: inErp?.number ?? null, erp_date: inErp?.date ?? null };
}

function trialRow(of: {
  isAnswered: boolean;
  unknownRefusals: number;
  batchLimit: number | null;
  last: { code: string; message: string } | null;
}) {
  return {
    is_answered: of.isAnswered,
    unknown_refusals: of.unknownRefusals,
    batch_limit: of.batchLimit,
    problem_code: of.last?.code ?? null,
    problem_message: of.last?.message ?? null,
  };
}
