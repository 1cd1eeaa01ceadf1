import { loadFacts } from '../../bookkeeping/facts.ts';
import { type InstallationConfig, postingContext } from '../../config/load.ts';
import { query } from '../../db/pool.ts';
import { type LedgerEntry, signed } from '../../domain/entry.ts';
import { UserError } from '../../domain/errors.ts';
import { formatMoney } from '../../domain/money.ts';
import { problemCatalogue } from '../../domain/problems.ts';
import { closedThrough } from '../../ledger/close.ts';
import { loadEntries } from '../../ledger/journal/read.ts';
import { summariesOf } from '../../ledger/summaries/store.ts';
import { judge } from '../../posting/index.ts';
import type { DocumentFacts, Judgement } from '../../posting/types.ts';
import { parseJson, stringifyJson } from '../../records/json.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import {
  type CalendarDate,
  type DocumentKind,
  type DocumentRef,
  type DocumentState,
  documentKinds,
} from '../../terms.ts';
import { type CommandContext, usageError } from '../context.ts';
import { explainText } from '../render/explain.ts';
import { withApp } from '../with-app.ts';
import { type Proof, proofsOf } from './proofs.ts';

/** Everything known of one document, from source to books. */
export interface Explanation {
  installation: number;
  document: DocumentRef;
  state: DocumentState;
  documentDate: CalendarDate | null;
  problem: { code: string; message: string; todo: string; since: Date | null } | null;
  reports: { code: string; message: string }[];
  versions: SourceVersion[];
  facts: DocumentFacts | null;
  /** What the rules say of these facts now; nothing is posted by asking. */
  judgement: Judgement | null;
  proofs: Proof[];
  entries: LedgerEntry[];
  inForce: string | null;
  /** By entry: the daily summary that took it to the general ledger. */
  summaries: Map<string, string>;
  writeBack: {
    entryId: string;
    state: string;
    previousValue: string | null;
    error: string | null;
    writtenAt: Date | null;
  } | null;
  /** The documents it hangs together with: an invoice's payments and original, a payment's invoice, a refund's original. */
  related: RelatedDocument[];
  decimals: number;
}

export interface RelatedDocument extends DocumentRef {
  state: DocumentState;
  problemCode: string | null;
  entryId: string | null;
}

export interface SourceVersion {
  version: number;
  modified: Date | null;
  sourceTime: Date;
  goneAt: Date | null;
  current: boolean;
  /** JSON text with the wire's digits. */
  raw: string;
}

export async function explain(
  context: CommandContext,
  options: { installation?: number },
  kindText: string,
  idText: string,
): Promise<number> {
  const kind = documentKinds.find((known) => known === kindText);
  if (!kind) throw usageError(`${kindText} is no kind of document; there are ${documentKinds.join(', ')}.`, 'explain');
  const isId = /^\d{1,15}$/.test(idText);
  // Every document number ends in digits.
  if (!isId && (kind !== 'invoice' || !/\d/.test(idText)))
    throw usageError(`${idText} is no id; give the id of the ${kind} in the practice software.`, 'explain');
  return withApp(context, { temporal: false }, async (app) => {
    const chosen = chosenInstallations(app.config, options.installation);
    const id = isId ? Number(idText) : await invoiceNumbered(app, chosen, idText);
    const { installation, row } = await findDocument(app, chosen, kind, id);
    const explanation = await explainDocument(app, installation, row);
    if (context.json) await context.write(`${stringifyJson(asDocument(explanation))}\n`);
    else await context.write(`${explainText(explanation)}\n`);
    return 0;
  });
}

interface DocumentRow {
  installation: number;
  kind: DocumentKind;
  id: number;
  state: DocumentState;
  document_date: CalendarDate | null;
  entry_id: string | null;
  problem_code: string | null;
  problem_message: string | null;
  problem_since: Date | null;
}

async function relatedTo(app: App, installation: number, facts: DocumentFacts): Promise<RelatedDocument[]> {
  const refs: DocumentRef[] = [];
  const add = (kind: DocumentKind, id: number | null) => {
    if (id !== null) refs.push({ kind, id });
  };
  if (facts.kind === 'invoice') {
    add('invoice', facts.invoice.originalInvoiceId);
    for (const payment of facts.payments) add('payment', payment.id);
    for (const member of facts.invoice.consolidatedInvoiceIds) add('invoice', member);
  } else if (facts.kind === 'payment') add('invoice', facts.payment.invoiceId);
  else add('prepayment', facts.prepayment.refundsId);
  return query<RelatedDocument>(
    app.db,
    `select d.kind, d.id, d.state, d.problem_code as "problemCode", d.entry_id as "entryId"
     from unnest(?::text[], ?::bigint[]) with ordinality as t(kind, id, place)
     join document d on d.installation = ? and d.kind = t.kind and d.id = t.id order by t.place`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id), installation],
  );
}

/** The invoice with this document number, as it stands on the receivables of the books. */
async function invoiceNumbered(app: App, chosen: InstallationConfig[], documentNumber: string): Promise<number> {
  const found = await query<{ invoice_id: number }>(
    app.db,
    `select distinct l.invoice_id from entry_line l join entry e on e.id = l.entry_id
     where e.installation = any(?) and e.kind = 'invoice' and l.document_number = ? and l.invoice_id is not null`,
    [chosen.map((installation) => installation.id), documentNumber],
  );
  if (found.length === 1) return found[0]!.invoice_id;
  throw new UserError(
    'document_unknown',
    found.length === 0
      ? `No invoice numbered ${documentNumber} is in the books.`
      : `${found.length} invoices are numbered ${documentNumber}.`,
    'Give the id of the invoice in the practice software: one that is not posted is known by its id only.',
    1,
  );
}

async function findDocument(app: App, chosen: InstallationConfig[], kind: DocumentKind, id: number) {
  const ids = chosen.map((installation) => installation.id);
  const { rows } = await app.db.raw<{ rows: DocumentRow[] }>(
    `select installation, kind, id, state, document_date, entry_id, problem_code, problem_message, problem_since
     from document where installation = any(?) and kind = ? and id = ? order by installation`,
    [ids, kind, id],
  );
  const [row] = rows;
  if (!row) {
    throw new UserError(
      'document_unknown',
      `There is no ${kind} ${id} of installation ${ids.join(' or ')} here.`,
      'Check the id; if the document is new, run `vetledger sync` first.',
      1,
    );
  }
  if (rows.length > 1) {
    const places = rows.map(({ installation }) => installation).join(' and ');
    throw usageError(`There is a ${kind} ${id} in installations ${places}: say which with --installation.`, 'explain');
  }
  return { row, installation: chosen.find((one) => one.id === row.installation)! };
}

async function explainDocument(app: App, installation: InstallationConfig, row: DocumentRow): Promise<Explanation> {
  const { db } = app;
  const document = { kind: row.kind, id: row.id };
  const [facts = null] = await loadFacts(db, installation.id, installation.dialect, [document]);
  const through = await closedThrough(db, installation.id);
  const conditions = postingContext(installation, through, await sourceLocks(app, installation.id));
  const judgement = facts && judge(facts, conditions, row.kind === 'invoice' ? null : row.document_date);
  const entries = await entriesOf(app, row);
  return {
    installation: installation.id,
    document,
    state: row.state,
    documentDate: row.document_date,
    problem: problemOf(row),
    reports: await reportsOf(app, row),
    versions: await versionsOf(app, row),
    facts,
    judgement,
    proofs: facts && judgement ? proofsOf(facts, judgement, installation.decimals) : [],
    entries,
    inForce: row.entry_id,
    summaries: await summariesOf(
      db,
      entries.map(({ id }) => id),
    ),
    writeBack: row.kind === 'prepayment' ? await writeBackOf(app, row) : null,
    related: facts ? await relatedTo(app, installation.id, facts) : [],
    decimals: installation.decimals,
  };
}

function problemOf({ problem_code: code, problem_message, problem_since }: DocumentRow): Explanation['problem'] {
  if (code === null) return null;
  const known = Object.entries(problemCatalogue).find(([name]) => name === code)?.[1];
  return {
    code,
    message: problem_message ?? '',
    todo: known?.todo ?? 'Run `vetledger problems retry` with its id.',
    since: problem_since,
  };
}

/** The source's lock dates as last seen (src/sync/facts.ts). */
async function sourceLocks(app: App, installation: number): Promise<Map<number, CalendarDate>> {
  const { rows } = await app.db.raw<{ rows: { department: number; value: string }[] }>(
    `select split_part(name, '.', 2)::bigint as department, value from installation_fact
     where installation = ? and name ~ '^source_lock\\.\\d+$'`,
    [installation],
  );
  const known = rows.map(({ department, value }) => [department, JSON.parse(value) as CalendarDate | null] as const);
  return new Map(known.filter((lock): lock is readonly [number, CalendarDate] => lock[1] !== null));
}

async function reportsOf(app: App, { installation, kind, id }: DocumentRow): Promise<Explanation['reports']> {
  const { rows } = await app.db.raw<{ rows: Explanation['reports'] }>(
    'select code, message from document_report where installation = ? and kind = ? and id = ? order by code',
    [installation, kind, id],
  );
  return rows;
}

async function versionsOf(app: App, { installation, kind, id }: DocumentRow): Promise<SourceVersion[]> {
  const { rows } = await app.db.raw<{ rows: SourceVersion[] }>(
    `select version, modified, source_time as "sourceTime", gone_at as "goneAt", true as current, raw
     from mirror_record where installation = ? and kind = ? and id = ?
     union all
     select version, modified, source_time, null, false, raw
     from mirror_version where installation = ? and kind = ? and id = ?
     order by version desc`,
    [installation, kind, id, installation, kind, id],
  );
  return rows;
}

async function entriesOf(app: App, { installation, kind, id }: DocumentRow): Promise<LedgerEntry[]> {
  const { rows } = await app.db.raw<{ rows: { id: string }[] }>(
    'select id from entry where installation = ? and kind = ? and document_id = ? order by n',
    [installation, kind, id],
  );
  return loadEntries(
    app.db,
    rows.map((row) => row.id),
  );
}

async function writeBackOf(app: App, { installation, id }: DocumentRow): Promise<Explanation['writeBack']> {
  const { rows } = await app.db.raw<{ rows: NonNullable<Explanation['writeBack']>[] }>(
    `select entry_id as "entryId", state, previous_value as "previousValue", error, written_at as "writtenAt"
     from write_back where installation = ? and prepayment_id = ?`,
    [installation, id],
  );
  return rows[0] ?? null;
}

/** As `--json` prints it: names as everywhere on the outside, amounts as texts, the source's records as they came. */
function asDocument(explanation: Explanation) {
  const { versions, judgement, entries, decimals, writeBack } = explanation;
  return {
    installation: explanation.installation,
    document: explanation.document,
    state: explanation.state,
    document_date: explanation.documentDate,
    problem: explanation.problem,
    reports: explanation.reports,
    related: explanation.related.map(({ kind, id, state, problemCode, entryId }) => ({
      document: `${kind} ${id}`,
      state,
      code: problemCode,
      entry: entryId,
    })),
    source: versions.map(({ version, modified, sourceTime, goneAt, current, raw }) => ({
      version,
      current,
      modified,
      read_at: sourceTime,
      gone_at: goneAt,
      record: parseJson(raw),
    })),
    judgement: judgement && {
      state: judgement.state,
      code: judgement.problem?.code ?? null,
      proofs: explanation.proofs,
    },
    entries: entries.map((entry) => ({
      id: entry.id,
      in_force: entry.id === explanation.inForce,
      posting_mode: entry.postingMode,
      summary: explanation.summaries.get(entry.id) ?? null,
      date: entry.date,
      document_date: entry.documentDate,
      reason: entry.reason,
      reverses: entry.reverses,
      original: entry.original,
      description: entry.description,
      seq: entry.seq,
      hash: entry.hash,
      lines: entry.lines.map((line) => ({
        account: line.account,
        role: line.role,
        amount: formatMoney(signed(line), decimals),
        rule: line.rule,
        mapped_by: line.mappedBy,
        party: line.party?.code ?? null,
        department: line.departmentId,
        dimensions: line.dimensions,
        internal: [line.internal.account, line.internal.dimension1, line.internal.dimension2],
        payment_type: line.paymentType,
        document_number: line.documentNumber,
        due_date: line.dueDate,
        bank_reference: line.bankReference,
        rows: line.rowIds,
        vat: line.vat && {
          group: line.vat.group,
          rate: line.vat.rate?.toFixed() ?? null,
          base: line.vat.base?.toFixed() ?? null,
        },
      })),
    })),
    write_back: writeBack && {
      entry_id: writeBack.entryId,
      state: writeBack.state,
      previous_value: writeBack.previousValue,
      error: writeBack.error,
      written_at: writeBack.writtenAt,
    },
  };
}
