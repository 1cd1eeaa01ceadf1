import type { Capabilities } from './capabilities.ts';
import { knownFacts, type Provenance } from './provenance.ts';

/**
 * The fields of a capability record on which the safety of a delivery depends: whether an entry may be lost, doubled or
 * changed. `vetledger erp probe` measures them.
 */
export const safetyFacts = [
  'key.unique',
  'key.duplicate_reply',
  'request_id',
  'key.lookup_lag_seconds',
  'doubt.server_may_work_seconds',
  'periods.on_locked',
] as const;
export type SafetyFact = (typeof safetyFacts)[number];

/** No known ERP shows a new entry later than this. */
export const longestLagSeconds = 60;
/** No known ERP works longer than this on a request whose client has disconnected. */
export const longestWorkSeconds = 600;

/**
 * The record that a delivery uses: a safety field that was not measured has its least favourable value. Then a wrong
 * assumption costs time, but no entry.
 */
export function cautious(capabilities: Capabilities, isMeasured: (fact: SafetyFact) => boolean): Capabilities {
  const { key, request_id: requestId, doubt, periods } = capabilities;
  const unless = <Value>(fact: SafetyFact, value: Value, otherwise: Value) => (isMeasured(fact) ? value : otherwise);
  const isUnique = isMeasured('key.unique') && isMeasured('key.duplicate_reply');
  return {
    ...capabilities,
    key: {
      ...key,
      ...(isUnique ? {} : { unique: 'none', duplicate_reply: 'doubled' }),
      lookup_lag_seconds: unless(
        'key.lookup_lag_seconds',
        key.lookup_lag_seconds,
        Math.max(key.lookup_lag_seconds, longestLagSeconds),
      ),
    },
    request_id: requestId && unless('request_id', requestId, { ...requestId, on_repeat: 'ignored' }),
    doubt: {
      server_may_work_seconds: unless(
        'doubt.server_may_work_seconds',
        doubt.server_may_work_seconds,
        Math.max(doubt.server_may_work_seconds, longestWorkSeconds),
      ),
    },
    periods: {
      ...periods,
      // Of an ERP whose locks cannot be read, the entry that was read back shows the date.
      on_locked: unless('periods.on_locked', periods.on_locked, periods.readable ? 'redated' : periods.on_locked),
    },
  };
}

/**
 * The record that deliveries to an ERP use, by the provenance of its fields. A target's own record may differ from the
 * ERP's by its configuration.
 */
export function reliedOn(provenance: Provenance, own = provenance.capabilities): Capabilities {
  const measured = new Set(knownFacts(provenance).flatMap(({ fact, from }) => (from === 'measured' ? fact : [])));
  return cautious(own, (fact) => measured.has(fact));
}
