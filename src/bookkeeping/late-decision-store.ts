import { rowsAsArrays } from '../db/bulk.ts';
import { instant, integer, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { type LateDecision, type LateDecisionKind, lateDecisions } from '../posting/types.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../terms.ts';

/** A stored decision (table `late_decision`). */
export interface RecordedDecision extends LateDecision {
  reason: string;
  by: string;
  at: Date;
}

/** The decisions about these documents by `kind/id`, the newest first, read in one SQL statement. */
export async function decisionsOf(
  db: Connection,
  installation: InstallationId,
  documents: readonly DocumentRef[],
): Promise<Map<string, RecordedDecision[]>> {
  const decisions = new Map<string, RecordedDecision[]>();
  if (documents.length === 0) return decisions;
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(documentKinds), document_id: integer, decision: oneOf(lateDecisions), version: text },
      ...{ reason: text, by: text, at: instant },
    },
    `select d.kind, d.document_id, d.decision, d.version, a.reason, a.acted_by as by, a.acted_at as at
     from late_decision d join action_done a on a.id = d.action_id
     where d.installation = ? and (d.kind, d.document_id) in (select * from unnest(?::text[], ?::bigint[]))
     order by d.id desc`,
    [installation, documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
  );
  for (const { kind, document_id: id, ...decision } of found) {
    const key = `${kind}/${id}`;
    decisions.set(key, [...(decisions.get(key) ?? []), decision]);
  }
  return decisions;
}

/** The invoices among these for which a posting on another day was ever decided. */
export async function redatedInvoices(
  db: Connection,
  installation: InstallationId,
  invoices: readonly number[],
): Promise<Set<number>> {
  const found = await rows(
    db,
    { id: integer },
    `select distinct document_id as id from late_decision
     where installation = ? and kind = 'invoice' and document_id = any(?) and decision = 'redate'`,
    [installation, invoices],
  );
  return new Set(found.map(({ id }) => id));
}

/** Records the decision of an action about these versions of documents. */
export async function recordDecisions(
  trx: Connection,
  installation: InstallationId,
  documents: readonly (DocumentRef & { version: string })[],
  { decision, action }: { decision: LateDecisionKind; action: number },
): Promise<void> {
  const { from, bindings } = rowsAsArrays(
    'decided',
    { kind: 'text', id: 'bigint', version: 'text' },
    documents.map(({ kind, id, version }) => ({ kind, id, version })),
  );
  await execute(
    trx,
    `insert into late_decision (installation, kind, document_id, decision, version, action_id)
     select ?, decided.kind, decided.id, ?, decided.version, ? from ${from}`,
    [installation, decision, action, ...bindings],
  );
}
