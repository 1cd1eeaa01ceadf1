import { nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { Dialect } from '../../records/dialect.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';
import type { TimestampStyle } from '../walk/timestamps.ts';
import { ignoredForHours } from './filters.ts';

/** The properties of the source's server that the pull of a list uses. */
export interface ListTraits {
  /** Filters that the server has ignored within the last `ignoredForHours`. */
  ignored: Set<string>;
  /** Filters that the server ignored before that. vetledger tries them again (recheck.ts). */
  outdated: Set<string>;
  /** How the server writes timestamps. It is `offset` until an invoice shows another style. */
  style: TimestampStyle;
  /**
   * Records on a page that is requested without a page size. It is the dialect's until an answer of the list shows
   * another one.
   */
  defaultPageSize: number;
}

/**
 * Reads the results of `ignoredFilters`, `readTimestampStyle` and `readDefaultPageSizes` for all lists in one
 * statement.
 */
export async function readTraits(
  db: Connection,
  installation: number,
  dialect: Pick<Dialect, 'default_page_size'>,
): Promise<Record<RecordKind, ListTraits>> {
  const found = await rows(
    db,
    {
      trait: oneOf(['ignored', 'outdated', 'timestamp_style', 'default_page_size']),
      list: nullable(oneOf(recordKinds)),
      value: text,
    },
    `select case when noted_at > clock_timestamp() - make_interval(hours => ?) then 'ignored' else 'outdated' end as trait,
       list, filter as value
     from source_filter where installation = ? and verdict = 'ignored'
     union all
     select name, list, value from source_capability
     where installation = ? and (name = 'timestamp_style' and list is null or name = 'default_page_size' and list is not null)`,
    [ignoredForHours, installation, installation],
  );
  const traitsOf = (kind: RecordKind): ListTraits => {
    const { default_page_size: defaultPageSize } = dialect;
    const traits: ListTraits = { ignored: new Set(), outdated: new Set(), style: 'offset', defaultPageSize };
    for (const { trait, list, value } of found) {
      if (list !== null && list !== kind) continue;
      if (trait === 'timestamp_style') traits.style = value === 'naive' ? 'naive' : 'offset';
      else if (trait === 'default_page_size') traits.defaultPageSize = Number(value);
      else traits[trait].add(value);
    }
    return traits;
  };
  return {
    ...{ invoice: traitsOf('invoice'), prepayment: traitsOf('prepayment') },
    ...{ payment: traitsOf('payment'), row: traitsOf('row') },
  };
}
