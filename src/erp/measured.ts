import type { MeasuredFacts, MeasuredFile } from '../config/measured.ts';
import type { Capabilities } from './capabilities.ts';
import type { Fact, Provenance, Source } from './provenance.ts';

/** A capability record with what was measured. */
export function measuredRecord(record: Capabilities, facts: MeasuredFacts): Capabilities {
  const { key, doubt, periods, request_id: requestId } = record;
  return {
    ...record,
    key: {
      ...key,
      unique: facts['key.unique'] ?? key.unique,
      duplicate_reply: facts['key.duplicate_reply'] ?? key.duplicate_reply,
      lookup_lag_seconds: facts['key.lookup_lag_seconds'] ?? key.lookup_lag_seconds,
    },
    request_id: requestId && { ...requestId, on_repeat: facts['request_id.on_repeat'] ?? requestId.on_repeat },
    doubt: { server_may_work_seconds: facts['doubt.server_may_work_seconds'] ?? doubt.server_may_work_seconds },
    periods: { ...periods, on_locked: facts['periods.on_locked'] ?? periods.on_locked },
  };
}

/** The provenance of an ERP with what was measured on a demo company. */
export function withMeasured(known: Provenance, { facts, measured_at: at, company }: MeasuredFile): Provenance {
  const source: Source = { from: 'measured', where: `vetledger erp probe, ${at.slice(0, 10)}, company ${company}` };
  const names = Object.keys(facts)
    .filter((name) => name !== 'imbalance')
    .map((name) => (name === 'request_id.on_repeat' ? 'request_id' : name) as Fact);
  return {
    ...known,
    capabilities: measuredRecord(known.capabilities, facts),
    facts: { ...known.facts, ...Object.fromEntries(names.map((name) => [name, source])) },
  };
}
