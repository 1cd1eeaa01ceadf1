import type { JsonObject, JsonValue } from '../../../records/json.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { ErpLine, FoundEntry, FoundLine } from '../../erp-entry.ts';
import { erpText } from '../../erp-text.ts';
import { ErpError } from '../../port.ts';
import type { ResolvedEntry, ResolvedLine } from '../api/erp-api.ts';
import { asAmount, asList, asRecord, asText, toAmount, writtenAs, wrongForm } from '../api/form.ts';
import { keyedText, keyIn, withoutKey } from '../api/keyed-text.ts';
import { xeroCapabilities } from './capabilities.ts';
import { refusalOf } from './connection.ts';
import { journalName, type XeroForm, type XeroRecords } from './names.ts';
import { asDay, asGuid, asOptionalText, messagesIn, recordsIn } from './wire.ts';

const { decimals } = xeroCapabilities.lines;

export type NewStatus = 'DRAFT' | 'POSTED';

/** A new journal. Each line has a tax type, since Xero would otherwise take the one of the account. */
export function toJournal(
  { entry, lines }: ResolvedEntry<XeroRecords>,
  { status, plainTax }: { status: NewStatus } & Pick<XeroForm, 'plainTax'>,
): JsonObject {
  const sent = entry.sentLines ?? entry.lines;
  return {
    Narration: keyedText(entry),
    Date: entry.date,
    LineAmountTypes: 'Exclusive',
    Status: status,
    JournalLines: sent.map((line, index) => toLine(line, lines[index], plainTax)),
  };
}

function toLine(line: ErpLine, resolved: ResolvedLine<XeroRecords> | undefined, plainTax: string): JsonObject {
  if (resolved === undefined) throw new Error('a line was not resolved');
  const { account, tax, dimensions } = resolved;
  const description = erpText(line.description, 'line_description', xeroCapabilities);
  return {
    LineAmount: toAmount(line.side === 'debit' ? line.amount : line.amount.negated(), decimals),
    AccountCode: account.code,
    ...(description === '' ? {} : { Description: description }),
    TaxType: tax === null ? plainTax : String(tax.id),
    ...(dimensions.length === 0
      ? {}
      : {
          Tracking: dimensions.map(({ categoryId, id, category, option }) => ({
            ...{ TrackingCategoryID: categoryId, TrackingOptionID: id, Name: category, Option: option },
          })),
        }),
  };
}

/**
 * The ids of created journals, in the order of their keys. Xero answers each journal of a request, with its own errors
 * and warnings. A warning may report a line that lost its account, so it is an error too: a look-up decides. Throws
 * ErpError.
 */
export function createdIds(answer: JsonValue, keys: readonly (string | null)[]): string[] {
  const journals = writtenAs(answer, (value) => recordsIn(value, 'ManualJournals'));
  const byKey = new Map(journals.map((journal) => [keyIn(asOptionalText(journal.Narration ?? null)), journal]));
  const faults: { key: string | null; error: ErpError }[] = [];
  const ids = keys.flatMap((key, index) => {
    // A journal that was not created may be answered without its narration.
    const journal = byKey.get(key) ?? (journals.length === keys.length ? journals[index] : undefined);
    if (journal === undefined) return [];
    const error = faultOf(journal);
    if (error === null) return writtenAs(journal.ManualJournalID ?? null, asGuid);
    faults.push({ key, error });
    return [];
  });
  const [first] = faults;
  if (first !== undefined) {
    const { means, message, problem } = first.error;
    const alike = faults.filter(({ error }) => error.means === means && error.message === message);
    const named = alike.flatMap(({ key }) => key ?? []);
    throw new ErpError(means, message, { ...(problem === null ? {} : { problem }), keys: named });
  }
  if (ids.length === keys.length) return ids;
  throw new ErpError('doubt', erpAnswerTexts.entriesMissing({ erp: 'Xero' }));
}

function faultOf(journal: JsonObject): ErpError | null {
  const errors = messagesIn(journal.ValidationErrors ?? null);
  const messages = [...errors, ...messagesIn(journal.Warnings ?? null)];
  return messages.length > 0 || journal.StatusAttributeString === 'ERROR' ? refusalOf(messages) : null;
}

/** The page of a journal. Xero opens it for a user who is signed in to the organisation. */
export function journalPage(id: string): string {
  return `https://go.xero.com/Journal/View.aspx?invoiceID=${encodeURIComponent(id)}`;
}

const states: Record<string, FoundEntry['state']> = { DRAFT: 'draft', POSTED: 'posted', VOIDED: 'void' };

/** The state of a journal; null if it was deleted as a draft. Xero still lists it. */
export function stateOf(journal: JsonObject): FoundEntry['state'] | null {
  const status = asText(journal.Status ?? null);
  return status === 'DELETED' ? null : (states[status] ?? 'draft');
}

/** The entry in a journal, with the VAT that Xero computed as lines on its VAT account. Null for a deleted draft. */
export function foundEntry(journal: JsonObject, form: XeroForm): FoundEntry | null {
  const state = stateOf(journal);
  if (state === null) return null;
  const narration = asText(journal.Narration ?? null);
  const id = asGuid(journal.ManualJournalID ?? null);
  const key = keyIn(narration);
  const type = journal.LineAmountTypes ?? 'Exclusive';
  if (type !== 'Exclusive' && type !== 'Inclusive' && type !== 'NoTax') throw wrongForm('LineAmountTypes', type);
  return {
    id,
    key,
    number: state === 'draft' ? null : id,
    state,
    date: asDay(journal.Date ?? null),
    journal: journalName,
    description: withoutKey(narration, key),
    lines: asList(journal.JournalLines ?? []).flatMap((line) => foundLines(asRecord(line), type, form)),
  };
}

function foundLines(line: JsonObject, type: 'Exclusive' | 'Inclusive' | 'NoTax', form: XeroForm): FoundLine[] {
  const amount = asAmount(line.LineAmount ?? null);
  const tax = line.TaxAmount == null || type === 'NoTax' ? null : asAmount(line.TaxAmount);
  const net = type === 'Inclusive' && tax !== null ? amount.minus(tax) : amount;
  const taxType = asOptionalText(line.TaxType ?? null);
  const hasVat = type !== 'NoTax' && taxType !== '' && taxType !== form.plainTax;
  const tracking = line.Tracking == null ? [] : asList(line.Tracking).map(asRecord);
  const base: FoundLine = {
    ...{ id: null, party: null, matched: null, amount: net },
    // A line that lost its account has none.
    account: asOptionalText(line.AccountCode ?? line.AccountID ?? null),
    vat: hasVat ? [{ code: taxType, part: 'base', amount: net }] : [],
    dimensions: Object.fromEntries(
      tracking.map(({ Name, Option }) => [asText(Name ?? null), asOptionalText(Option ?? null)]),
    ),
    label: asOptionalText(line.Description ?? null),
  };
  if (tax === null || tax.isZero()) return [base];
  const vat: FoundLine['vat'] = hasVat ? [{ code: taxType, part: 'tax', amount: tax }] : [];
  return [base, { ...base, account: form.vatAccount ?? '', amount: tax, dimensions: {}, vat }];
}
