import { type ErpConfig, isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import type { Capabilities } from '../erp/capabilities.ts';
import { type Foreign, foreignIn } from '../erp/claims/claim-store.ts';
import { foreignError } from '../erp/claims/search-foreign.ts';
import { companyKeyOf } from '../erp/company.ts';
import { openItemRemarks } from '../erp/open-items/item-store.ts';
import { deliveryWaits, type UnitWait } from '../erp/outbox/delivery-waits.ts';
import {
  type CompanyState,
  companyStates,
  type DeliveryCounts,
  type DeliveryPause,
  type OutboxState,
  outboxStates,
  pausesOf,
  undosOf,
  unitsById,
  unitsInState,
} from '../erp/outbox/outbox-queries.ts';
import type { OutboxUnit, UnitState } from '../erp/outbox/unit.ts';
import { translate } from '../erp/translate.ts';
import { loadUnits } from '../ledger/general-ledger.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { erpProblemCatalogue } from '../texts/erp-problems.ts';
import { deliveryTexts } from '../texts/findings/erp-check-results.ts';
import { numberProblems } from '../writeback/questions.ts';
import type { DocumentProblem } from './problems.ts';

/** The delivery of one installation, as `status --json` and `deliver --json` print it. */
export interface DeliveryStatus extends DeliveryCounts {
  kind: ErpConfig['kind'];
  /** Date of the oldest unit that is sent automatically. */
  oldest: CalendarDate | null;
  /** Dates of the units that wait for approval. */
  unapproved_dates: { from: CalendarDate; through: CalendarDate } | null;
  last_answer_at: Date | null;
  /**
   * The last error of the ERP or of the connection to it, or foreign entries that stop the delivery; null after a later
   * answer.
   */
  last_error: { code: string; message: string; at: Date } | null;
  /** No unit is sent before this time; null if there is no pause. */
  not_before: Date | null;
  /** When the ERP's closed periods were last read; posting uses them. */
  periods_read_at: Date | null;
  /**
   * Drafts that appeared in the ERP after its time limit and were deleted; the number covers all installations of the
   * company.
   */
  drafts_swept: number;
  /** Whether a process is delivering to the company now. */
  under_way: boolean;
  /** Units that an earlier delivery sent without a clear answer. They are looked up before any other unit is sent. */
  in_doubt: number;
  /** Earliest time of the look-up; null if the next delivery looks the units up. */
  looks_up_at: Date | null;
  /** The time since which the next unit has waited for an answer of the ERP. Null if no unit waits. */
  waiting_since: Date | null;
  paused: { by: string; reason: string; at: Date } | null;
}

/** The state of an installation's delivery; null if nothing is delivered. */
export async function deliveryStatus(db: Db, installation: InstallationConfig): Promise<DeliveryStatus | null> {
  return (await deliveryStatuses(db, [installation])).get(installation.id) ?? null;
}

/**
 * The state of these installations' deliveries, in a fixed number of statements. Installations without a delivery are
 * left out.
 */
export async function deliveryStatuses(
  db: Connection,
  installations: readonly Pick<InstallationConfig, 'id' | 'erp'>[],
): Promise<Map<InstallationId, DeliveryStatus>> {
  const delivered = installations.flatMap(({ id, erp }) => {
    const company = companyKeyOf(erp);
    return company === null || !isDelivered(erp) ? [] : [{ id, erp, company }];
  });
  if (delivered.length === 0) return new Map();
  const ids = delivered.map(({ id }) => id);
  const outboxes = new Map((await outboxStates(db, ids)).map((state) => [state.installation, state]));
  const pauses = new Map((await pausesOf(db, ids)).map((pause) => [pause.installation, pause]));
  const companies = await companyStates(db, [...new Set(delivered.map(({ company }) => company))]);
  const states = new Map(companies.map((state) => [state.company, state]));
  const claims = delivered.map(({ id, company }) => ({ installation: id, company }));
  const foreign = new Map((await foreignIn(db, claims)).map((each) => [each.installation, each]));
  const waits = new Map((await deliveryWaits(db, delivered)).map((wait) => [wait.installation, wait]));
  return new Map(
    delivered.flatMap(({ id, erp, company }): [InstallationId, DeliveryStatus][] => {
      const outbox = outboxes.get(id);
      return outbox === undefined
        ? []
        : [
            [
              id,
              statusOf(erp.kind, outbox, states.get(company) ?? null, {
                wait: waits.get(id),
                pause: pauses.get(id) ?? null,
                foreign: foreign.get(id) ?? null,
              }),
            ],
          ];
    }),
  );
}

function statusOf(
  kind: ErpConfig['kind'],
  { counts, approval, oldest }: OutboxState,
  state: CompanyState | null,
  { wait, pause, foreign }: { wait: UnitWait | undefined; pause: DeliveryPause | null; foreign: Foreign | null },
): DeliveryStatus {
  const { last_error_at: errorAt, last_answer_at: answeredAt } = state ?? { last_error_at: null, last_answer_at: null };
  const isErrorLast = errorAt !== null && (answeredAt === null || errorAt > answeredAt);
  return {
    kind,
    ...counts,
    oldest,
    unapproved_dates:
      approval.from === null || approval.through === null ? null : { from: approval.from, through: approval.through },
    last_answer_at: answeredAt,
    last_error:
      foreign !== null
        ? foreignNow(foreign)
        : isErrorLast
          ? { code: state?.last_error_code ?? 'erp_unreachable', message: state?.last_error_message ?? '', at: errorAt }
          : null,
    not_before: state?.not_before ?? null,
    periods_read_at: state?.periods_read_at ?? null,
    drafts_swept: state?.drafts_swept ?? 0,
    ...{ under_way: wait?.isUnderWay ?? false, in_doubt: wait?.inDoubt ?? 0 },
    ...{ looks_up_at: wait?.looksUpAt ?? null, waiting_since: wait?.waitingSince ?? null },
    paused: pause && { by: pause.acted_by, reason: pause.reason, at: pause.acted_at },
  };
}

function foreignNow(foreign: Foreign): DeliveryStatus['last_error'] {
  const { code, message } = foreignError(foreign);
  return { code, message, at: foreign.since };
}

const pageSize = 500;

/**
 * The units of these installations that the ERP refuses, and invoices that it does not match, as `problems` prints
 * them.
 */
export async function deliveryProblems(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<DocumentProblem[]> {
  const found: DocumentProblem[] = [];
  for (const installation of installations) {
    let after: OutboxUnit | null = null;
    for (;;) {
      const page: OutboxUnit[] = await unitsInState(db, installation, 'refused', { after, limit: pageSize });
      found.push(...page.map(problemOf));
      after = page.at(-1) ?? null;
      if (page.length < pageSize) break;
    }
    found.push(...(await unmatchedItems(db, installation)));
  }
  for (const { kind, id, code, ...problem } of await numberProblems(db, installations)) {
    const document = `${kind} ${id}`;
    found.push({ id: `${problem.installation}/${kind}/${id}`, document, code, ...problem, todo: erpTodoOf(code) });
  }
  return found;
}

async function unmatchedItems(db: Connection, installation: InstallationId): Promise<DocumentProblem[]> {
  const found: DocumentProblem[] = [];
  for (let after = ''; ; ) {
    const page = await openItemRemarks(db, installation, { after, limit: pageSize });
    for (const { item: id, remark: message, remark_since: since } of page) {
      const code = 'erp_item_unmatched';
      const document = id.split('/').slice(1).join(' ');
      found.push({ id, installation, document, code, message, todo: erpTodoOf(code), since });
    }
    after = page.at(-1)?.item ?? after;
    if (page.length < pageSize) return found;
  }
}

function problemOf(unit: OutboxUnit): DocumentProblem {
  const code = unit.problem_code ?? 'erp_refused';
  return {
    id: unit.unit_id,
    installation: unit.installation,
    document: documentOf(unit),
    code,
    message: unit.problem_message ?? '',
    todo: erpTodoOf(code),
    since: unit.problem_since,
  };
}

/** `invoice 123` for the entry `4711/invoice/123/1`. */
function documentOf({ kind, unit_id, unit_date }: OutboxUnit): string {
  if (kind === 'daily_summary') return deliveryTexts.dailySummary({ date: unit_date });
  const [, documentKind, id] = unit_id.split('/');
  return `${documentKind} ${id}`;
}

/** The next step for a problem of delivery. A code of another release is not in the catalogue. */
export function erpTodoOf(code: string): string {
  const known: Partial<Record<string, { todo: string }>> = erpProblemCatalogue;
  return (Object.hasOwn(known, code) ? known[code]?.todo : undefined) ?? deliveryTexts.unknownCode;
}

/** A unit that a delivery would send now, with its problems. */
export interface UnitToSend {
  unit: string;
  date: CalendarDate;
  document: string;
  /** Gaps of the mapping, for which the ERP would refuse the unit. */
  problems: { code: string; message: string; todo: string }[];
}

/** The units that are sent automatically, a page at a time, with their problems under this mapping. Sends nothing. */
export async function* unitsToSend(
  db: Db,
  databaseId: string,
  { id, mapping }: InstallationConfig,
  capabilities: Capabilities,
): AsyncGenerator<UnitToSend[]> {
  for (const state of ['pending', 'uncertain', 'sending'] as const) {
    let after: OutboxUnit | null = null;
    for (;;) {
      const page: OutboxUnit[] = await unitsInState(db, id, state, { after, limit: pageSize });
      const due = page.filter((unit) => state !== 'pending' || !unit.needs_approval);
      const units = await loadUnits(
        db,
        due.map(({ kind, unit_id }) => ({ kind, id: unit_id })),
      );
      const problemsById = new Map(
        units.map((unit) => {
          const translated = translate(unit, { databaseId, mapping, capabilities });
          const problems = 'problems' in translated ? translated.problems : [];
          return [unit.posting.id, problems.map((problem) => ({ ...problem, todo: erpTodoOf(problem.code) }))];
        }),
      );
      yield due.map((unit) => ({
        unit: unit.unit_id,
        date: unit.unit_date,
        document: documentOf(unit),
        problems: problemsById.get(unit.unit_id) ?? [],
      }));
      after = page.at(-1) ?? null;
      if (page.length < pageSize) break;
    }
  }
}

/** The delivery of an entry, or of the summary that contains it. */
export interface UnitDelivery {
  unit: string;
  state: UnitState;
  needsApproval: boolean;
  /** The ERP's own id and number. */
  erpId: string | null;
  erpNumber: string | null;
  /** The date in the ERP, if it differs from the date in the books; null otherwise. */
  erpDate: CalendarDate | null;
  settledAt: Date | null;
  problem: { code: string; message: string; todo: string; since: Date | null } | null;
}

/** The deliveries of units by id, each followed by its undos. A unit that is not in the outbox is left out. */
export async function deliveriesOf(
  db: Connection,
  installation: InstallationId,
  ids: readonly string[],
): Promise<Map<string, UnitDelivery[]>> {
  const units = await unitsById(db, installation, ids);
  const undos = await undosOf(db, installation, ids);
  return new Map(
    units.map((unit) => [
      unit.unit_id,
      [unit, ...undos.filter(({ unit_id }) => unit_id.startsWith(`${unit.unit_id}/undo/`))].map(deliveryOf),
    ]),
  );
}

function deliveryOf(unit: OutboxUnit): UnitDelivery {
  return {
    unit: unit.unit_id,
    state: unit.state,
    needsApproval: unit.needs_approval,
    erpId: unit.erp_id,
    erpNumber: unit.erp_number,
    erpDate: unit.erp_date,
    settledAt: unit.settled_at,
    problem:
      unit.problem_code === null
        ? null
        : {
            code: unit.problem_code,
            message: unit.problem_message ?? '',
            todo: erpTodoOf(unit.problem_code),
            since: unit.problem_since,
          },
  };
}
