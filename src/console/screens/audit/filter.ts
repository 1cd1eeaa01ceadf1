import { dayAfter, instantOf } from '../../../domain/dates.ts';
import type { AuditFilter } from '../../../queries/audit.ts';
import { dayIn } from '../../parts/pages.ts';

type Query = Readonly<Record<string, string>>;

export const auditParts = ['actions', 'closes', 'returns', 'rights', 'sign_ins'] as const;
export type AuditPart = (typeof auditParts)[number];

export function readPart({ part }: Query): AuditPart {
  return auditParts.find((each) => each === part) ?? 'actions';
}

/** Reads the fields of the form. Fields with a fault count as empty. Days are those of the clinic's zone. */
export function readFilter(query: Query, timezone: string): AuditFilter {
  const text = (name: string) => (query[name] ?? '').slice(0, 200) || null;
  const [from, to] = [dayIn(query, 'from'), dayIn(query, 'to')];
  return {
    ...{ kind: text('kind'), person: text('person') },
    from: from === null ? null : instantOf(from, timezone),
    to: to === null ? null : instantOf(dayAfter(to), timezone),
  };
}
