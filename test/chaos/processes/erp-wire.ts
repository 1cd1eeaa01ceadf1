// The fake ERP over HTTP: each method of the port is a POST with its arguments. Amounts and maps are marked in the
// JSON.

import { Money } from '../../../src/domain/money.ts';
import { type CompanyRef, ErpError, type ErpTarget, type RequestOptions } from '../../../src/erp/port.ts';
import { type FakeRecord, records } from '../../erp/fake/records.ts';

/** For this long, the ERP may still work on a request after its client gave up. */
export const mayWorkSeconds = 3;
/** The client's time limit; some answers are slower. */
export const clientTimeoutMs = 1_500;
/**
 * After this time a request has no effect. It is within the limit of the record, because all processes share a clock.
 */
export const effectWithinMs = mayWorkSeconds * 1_000 - 500;
const slowestLookUpSeconds = 0.5;

/** The ERP section that is added to the demo's mapping. */
export const erpSection = `
erp:
  vat_codes: {"VAT 25.5 %": S25, "VAT 14 %": S14, "VAT 13.5 %": S135, "VAT 10 %": S10, "VAT 0 %": S0, "EU sales 0 %": EU0}
  journals: {"*": SALES}
  parties: collective
  collective_party: CASH
`;

/** Records of ERPs that differ in the effect of a lost answer. */
export const playedErps = ['tryton', 'fortnox', 'overwriting', 'stubborn_drafts'] as const;

/** A record with the times of a round: no limits per minute or day, and short doubts. */
export function hurriedRecord(name: string): FakeRecord {
  const record = records[name];
  if (!record) throw new Error(`no record ${name}`);
  const { key, doubt, pace } = record.capabilities;
  const capabilities = {
    ...record.capabilities,
    key: { ...key, lookup_lag_seconds: Math.min(key.lookup_lag_seconds, slowestLookUpSeconds) },
    doubt: { ...doubt, server_may_work_seconds: mayWorkSeconds },
    pace: { ...pace, limits: [], errors_allowed: null },
  };
  return { ...record, capabilities };
}

export function encoded(value: unknown): string {
  return JSON.stringify(value, function tagged(this: Record<string, unknown>, name, plain) {
    const whole = this[name];
    if (whole instanceof Money) return { $money: whole.toFixed() };
    if (whole instanceof Date) return { $date: whole.toISOString() };
    if (whole instanceof Map) return { $map: [...whole] };
    return plain;
  });
}

export function decoded(text: string): unknown {
  return JSON.parse(text, (_name, value) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('$money' in value) return new Money(String(value.$money));
    if ('$date' in value) return new Date(String(value.$date));
    if ('$map' in value) return new Map(value.$map as [unknown, unknown][]);
    return value;
  });
}

/** An answer: the result of the method, or its error. */
export type WireAnswer =
  | { result: unknown }
  | { error: Pick<ErpError, 'means' | 'message' | 'problem' | 'keys' | 'retryAfterMs'> };

/** A client of the ERP process for the daemon. */
export function remoteErp({
  url,
  company,
  record,
}: {
  url: string;
  company: CompanyRef;
  record: FakeRecord;
}): ErpTarget {
  const { capabilities } = record;
  const call = async <Result>(method: string, args: unknown[], { signal }: RequestOptions): Promise<Result> => {
    signal.throwIfAborted();
    const asked = AbortSignal.any([signal, AbortSignal.timeout(clientTimeoutMs)]);
    let text: string;
    try {
      const response = await fetch(`${url}/${method}`, {
        method: 'POST',
        body: encoded(args),
        headers: { 'x-effect-until': String(Date.now() + effectWithinMs) },
        signal: asked,
      });
      text = await response.text();
      if (response.status !== 200) throw new ErpError('doubt', `${response.status} ${text.slice(0, 100)}`);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ErpError ? error : noAnswer(error);
    }
    const answer = readAnswer(text);
    // A method without a result answers without `result`.
    if (!('error' in answer)) return answer.result as Result;
    const { means, message, problem, keys, retryAfterMs } = answer.error;
    throw new ErpError(means, message, { ...(problem === null ? {} : { problem }), keys, retryAfterMs });
  };
  type Groups = readonly (readonly string[])[];
  const plain = ({ priority }: RequestOptions) => ({ priority });
  const writing = (request: RequestOptions & { attemptId: string }) => ({
    ...plain(request),
    attemptId: request.attemptId,
  });
  return {
    capabilities,
    company,
    find: (keys, request) => call('find', [keys, plain(request)], request),
    keyed: (which, request) => call('keyed', [which, plain(request)], request),
    create: (entries, request) => call('create', [entries, writing(request)], request),
    post: (ids, request) => call('post', [ids, writing(request)], request),
    withdrawDrafts: (ids, request) => call('withdrawDrafts', [ids, writing(request)], request),
    read: (ids, request) => call('read', [ids, plain(request)], request),
    periods: (request) => call('periods', [plain(request)], request),
    ...(capabilities.lines.matching
      ? {
          matching: {
            match: (groups: Groups, request) => call('match', [groups, writing(request)], request),
            unmatch: (groups: Groups, request) => call('unmatch', [groups, writing(request)], request),
          },
        }
      : {}),
    async *check() {},
    close: async () => undefined,
  };
}

/** Parses an answer. Throws ErpError if it was cut off. */
function readAnswer(text: string): WireAnswer {
  try {
    return decoded(text) as WireAnswer;
  } catch (error) {
    throw new ErpError('doubt', 'the answer is cut short', { cause: error });
  }
}

function noAnswer(error: unknown): ErpError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return new ErpError(code === 'ECONNREFUSED' ? 'unsent' : 'doubt', `no answer: ${code || String(error)}`);
}
