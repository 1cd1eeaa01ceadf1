import { oneOf, text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { Dialect } from '../../records/dialect.ts';
import type { RecordKind } from '../../terms.ts';
import type { TimestampStyle } from '../walk/timestamps.ts';
import { ignoredForHours } from './filters.ts';

/** What the pull of a list has to know of the source's server. */
export interface ListTraits {
  /** Filters that the server was seen to ignore within the last `ignoredForHours`. */
  ignored: Set<string>;
  /** How the server writes timestamps; `offset` until an invoice has shown otherwise. */
  style: TimestampStyle;
  /** Records of a page that is asked for without a page size; the dialect's until an answer of the list has shown its own. */
  defaultPageSize: number;
}

/** As `ignoredFilters`, `readTimestampStyle` and `readDefaultPageSizes`, for one list and in one statement. */
export async function readListTraits(
  db: Connection,
  installation: number,
  list: RecordKind,
  dialect: Pick<Dialect, 'default_page_size'>,
): Promise<ListTraits> {
  const found = await rows(
    db,
    { trait: oneOf(['ignored', 'timestamp_style', 'default_page_size']), value: text },
    `select 'ignored' as trait, filter as value from source_filter
     where installation = ? and list = ? and verdict = 'ignored' and noted_at > clock_timestamp() - make_interval(hours => ?)
     union all
     select name, value from source_capability
     where installation = ? and (name = 'timestamp_style' and list is null or name = 'default_page_size' and list = ?)`,
    [installation, list, ignoredForHours, installation, list],
  );
  const traits: ListTraits = { ignored: new Set(), style: 'offset', defaultPageSize: dialect.default_page_size };
  for (const { trait, value } of found) {
    if (trait === 'ignored') traits.ignored.add(value);
    else if (trait === 'timestamp_style') traits.style = value === 'naive' ? 'naive' : 'offset';
    else traits.defaultPageSize = Number(value);
  }
  return traits;
}
