import type { LateDocument } from '../documents/late.ts';
import { isCalendarDate } from '../domain/dates.ts';
import { documentKinds } from '../terms.ts';
import { usageError } from './context.ts';

/** `--filter` of `late decide`: `code=…,kind=…,from=…,to=…`, each at most once; documents match all of them. */
export type LateFilter = Partial<Record<(typeof keys)[number], string>>;

const keys = ['code', 'kind', 'from', 'to'] as const;

export function parseLateFilter(text: string): LateFilter {
  const filter: LateFilter = {};
  for (const part of text.split(',')) {
    const [name = '', value = '', ...rest] = part.split('=').map((each) => each.trim());
    const key = keys.find((each) => each === name);
    if (key === undefined || value === '' || rest.length > 0 || filter[key] !== undefined || !isValid(key, value)) {
      throw usageError(
        `${part} is no condition of --filter. Say code=CODE, kind=invoice, from=DATE or to=DATE, each once, with commas between them.`,
        'late decide',
      );
    }
    filter[key] = value;
  }
  return filter;
}

function isValid(key: keyof LateFilter, value: string): boolean {
  if (key === 'code') return true;
  return key === 'kind' ? documentKinds.some((kind) => kind === value) : isCalendarDate(value);
}

/** Whether a late document matches; one without a date matches no day. */
export function matchesLate(
  { code, kind, from, to }: LateFilter,
  document: Pick<LateDocument, 'problem' | 'kind' | 'documentDate'>,
): boolean {
  const date = document.documentDate;
  return (
    (code === undefined || document.problem === code) &&
    (kind === undefined || document.kind === kind) &&
    (from === undefined || (date !== null && date >= from)) &&
    (to === undefined || (date !== null && date <= to))
  );
}
