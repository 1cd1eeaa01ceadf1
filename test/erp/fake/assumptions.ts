// The assumption matrix: what is not measured about an ERP may be otherwise. Each safety field is a parameter of the
// fake with all its values, and deliveries must be right for every pair of them.

import { readFileSync } from 'node:fs';
import { measuredFile } from '../../../src/config/measured.ts';
import { cautious, type SafetyFact, safetyFacts } from '../../../src/erp/cautious.ts';
import { withMeasured } from '../../../src/erp/measured.ts';
import { knownFacts } from '../../../src/erp/provenance.ts';
import { provenances } from '../../../src/erp/targets/provenance.ts';
import { type FakeRecord, type PlayedErp, playedRecords, records } from './records.ts';

/** The ways in which an ERP may behave. */
const values = {
  repeat: ['refused', 'replayed', 'ignored'],
  rememberedSeconds: [60, 86_400],
  survives: ['all', 'successes'],
  duplicate: ['accepted', 'refused', 'replayed', 'overwrites'],
  lagSeconds: [0, 5, 60],
  worksSeconds: [0, 30, 600],
  locked: ['refused', 'redated', 'warned'],
  imbalance: ['refused', 'extra_line', 'within_tolerance'],
  unknownValue: ['refused', 'created', 'dropped'],
} as const;

type Values = typeof values;
type Parameter = keyof Values;
export type Behaviour = { [Name in Parameter]: Values[Name][number] };

/** The field that a parameter belongs to; null if the record has none, so that it is never measured. */
const factOf: Readonly<Record<Parameter, SafetyFact | null>> = {
  ...{ repeat: 'request_id', rememberedSeconds: 'request_id', survives: 'request_id' },
  ...{ duplicate: 'key.duplicate_reply', lagSeconds: 'key.lookup_lag_seconds' },
  ...{ worksSeconds: 'doubt.server_may_work_seconds', locked: 'periods.on_locked' },
  ...{ imbalance: null, unknownValue: null },
};

/** An ERP of the matrix: its record, and the fields that are measured. */
interface Assumed {
  record: FakeRecord;
  measured: ReadonlySet<SafetyFact>;
}

/** What `vetledger erp probe` measured, if MEASURED names its file; it narrows the matrix of that ERP. */
const { MEASURED: path } = process.env;
const measured = path ? measuredFile.parse(JSON.parse(readFileSync(path, 'utf8'))) : null;

/** Our targets with their own records and provenance, and the records from research, of which nothing is measured. */
export const assumedErps: Readonly<Record<string, Assumed>> = Object.fromEntries([
  ...playedRecords.map(
    (name) => [`like ${name}`, { record: recordOf(name), measured: new Set<SafetyFact>() }] as const,
  ),
  ...Object.entries(provenances).map(([kind, known]) => {
    const provenance = measured?.erp === kind ? withMeasured(known, measured) : known;
    const from = new Map(knownFacts(provenance).map((known) => [known.fact, known.from]));
    const { capabilities, says, postedAgain } = recordOf(kind);
    const { write, lines, periods, key, doubt, read_back, request_id } = provenance.capabilities;
    const own: PlayedErp = {
      ...{ ...capabilities, key, doubt, read_back, request_id },
      write: { ...capabilities.write, ...write },
      lines: { ...capabilities.lines, decimals: lines.decimals, party: lines.party },
      periods: { ...capabilities.periods, ...periods },
    };
    const seen = new Set(safetyFacts.filter((fact) => from.get(fact) === 'measured'));
    return [kind, { record: { capabilities: own, says, postedAgain }, measured: seen }] as const;
  }),
]);

function recordOf(name: string): FakeRecord {
  const record = records[name];
  if (record === undefined) throw new Error(`no record ${name}`);
  return record;
}

/** The behaviours of an ERP in which every pair of values occurs. Measured parameters stay as in its record. */
export function behavioursOf({ record, measured }: Assumed): Partial<Behaviour>[] {
  const open = (Object.keys(values) as Parameter[]).filter((name) => {
    const fact = factOf[name];
    if (fact === 'request_id' && record.capabilities.request_id === null) return false;
    return fact === null || !measured.has(fact);
  });
  return pairs(Object.fromEntries(open.map((name) => [name, values[name]])));
}

/** The ERP with a behaviour, and the record that a delivery believes. */
export function played({ record, measured }: Assumed, behaviour: Partial<Behaviour>) {
  const { capabilities } = record;
  const { key, request_id: requestId, periods, doubt } = capabilities;
  const { repeat, rememberedSeconds, survives, duplicate, lagSeconds, worksSeconds, locked } = behaviour;
  const { imbalance = capabilities.imbalance, unknownValue } = behaviour;
  const acts: PlayedErp = {
    ...capabilities,
    imbalance,
    key: {
      ...key,
      lookup_lag_seconds: lagSeconds ?? key.lookup_lag_seconds,
      ...(duplicate === 'accepted' && { unique: 'none', duplicate_reply: 'doubled' }),
      ...(duplicate !== undefined && duplicate !== 'accepted' && { unique: 'enforced', duplicate_reply: duplicate }),
    },
    request_id: requestId && {
      ...requestId,
      on_repeat: repeat ?? requestId.on_repeat,
      remembered_seconds: rememberedSeconds ?? requestId.remembered_seconds,
      survives: survives ?? requestId.survives,
    },
    doubt: { server_may_work_seconds: worksSeconds ?? doubt.server_may_work_seconds },
    periods: { ...periods, on_locked: locked ?? periods.on_locked },
    dimensions: capabilities.dimensions.map((one) => ({ ...one, unknown: unknownValue ?? one.unknown })),
  };
  const believed = { ...capabilities, ...cautious(capabilities, (fact) => measured.has(fact)) };
  return { record: { ...record, capabilities: acts }, believed: believed as PlayedErp };
}

/**
 * Combinations in which every pair of values of two parameters occurs. Each new one begins with a missing pair, and
 * takes for every other parameter the value with the most missing pairs.
 */
export function pairs(parameters: Readonly<Record<string, readonly unknown[]>>): Record<string, never>[] {
  const names = Object.keys(parameters);
  const all = names.flatMap((name) => (parameters[name] ?? []).map((_, at): Choice => ({ name, at })));
  const missing = new Map<string, [Choice, Choice]>();
  for (const [n, one] of all.entries())
    for (const other of all.slice(n + 1)) if (one.name !== other.name) missing.set(pairOf(one, other), [one, other]);
  const rows: Record<string, never>[] = [];
  for (;;) {
    const [first] = missing.values();
    if (first === undefined) break;
    const chosen = [...first];
    for (const name of names.filter((each) => !first.some((choice) => choice.name === each))) {
      const gain = (choice: Choice) => chosen.filter((other) => missing.has(pairOf(choice, other))).length;
      const best = all.filter((choice) => choice.name === name).toSorted((one, other) => gain(other) - gain(one))[0];
      if (best !== undefined) chosen.push(best);
    }
    for (const [n, one] of chosen.entries())
      for (const other of chosen.slice(n + 1)) missing.delete(pairOf(one, other));
    rows.push(Object.fromEntries(chosen.map(({ name, at }) => [name, parameters[name]?.[at]])) as never);
  }
  return rows;
}

interface Choice {
  name: string;
  at: number;
}

function pairOf(one: Choice, other: Choice): string {
  return [one, other]
    .map(({ name, at }) => `${name} ${at}`)
    .sort()
    .join(', ');
}
