import { visible } from '../../../domain/text.ts';
import type { JsonObject, JsonValue } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError, type WriteOptions } from '../../port.ts';
import { asText, readAs, writtenAs, wrongForm } from '../api/form.ts';
import type { XeroConnection } from './connection.ts';
import { journalPath } from './read.ts';
import { recordsIn } from './wire.ts';

/**
 * Creates journals with one request. Without `summarizeErrors=false`, one wrong journal would refuse all of them, and
 * the answer would not say which. POST would change an existing journal, so PUT is used.
 */
export function createJournals(
  connection: XeroConnection,
  journals: readonly JsonObject[],
  { attemptId, ...request }: WriteOptions,
): Promise<JsonValue> {
  return connection.call(
    {
      ...{ access: 'writes', verb: 'PUT', path: '/ManualJournals', query: { summarizeErrors: 'false' } },
      headers: { 'idempotency-key': attemptId },
      body: { ManualJournals: journals },
    },
    request,
  );
}

/** Posts or deletes drafts. Throws ErpError, also for a journal that is no longer a draft. */
export async function setStatus(
  connection: XeroConnection,
  ids: readonly string[],
  status: 'POSTED' | 'DELETED',
  { attemptId, ...request }: WriteOptions,
): Promise<void> {
  for (const id of ids) {
    const path = journalPath(id);
    const answer = await connection.get(path, {}, request);
    const [journal] = readAs(answer, (value) => (value === null ? [] : recordsIn(value, 'ManualJournals')));
    if (journal === undefined || journal.Status === status) continue;
    if (journal.Status !== 'DRAFT') {
      const message = erpAnswerTexts.notADraft({ id: visible(id), erp: 'Xero' });
      throw new ErpError('refused', message, { problem: 'erp_refused' });
    }
    // The specification requires the narration.
    const Narration = readAs(journal.Narration ?? null, asText);
    const written = await connection.call(
      {
        ...{ access: 'writes', verb: 'POST', path, headers: { 'idempotency-key': `${attemptId}/${id}` } },
        body: { ManualJournals: [{ ManualJournalID: id, Narration, Status: status }] },
      },
      request,
    );
    writtenAs(written, (value) => {
      if (recordsIn(value, 'ManualJournals')[0]?.Status !== status) throw wrongForm(status, value);
    });
  }
}
