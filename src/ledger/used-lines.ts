import { bool, integer, nullable, numeric, oneOf, type RowOf, text } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { documentKinds, type InstallationId, lineRoles, postingModes } from '../terms.ts';

const shape = {
  kind: oneOf(documentKinds),
  posting_mode: oneOf(postingModes),
  account: text,
  role: oneOf(lineRoles),
  has_vat: bool,
  vat_group: nullable(text),
  vat_rate: nullable(numeric),
  department_id: nullable(integer),
  dimension_1: nullable(text),
  dimension_2: nullable(text),
  dimension_3: nullable(text),
  internal_account: nullable(text),
  internal_dimension_1: nullable(text),
  internal_dimension_2: nullable(text),
};

/** A group of lines that have the same facts for an ERP. */
export type UsedLine = RowOf<typeof shape>;

const columns = Object.keys(shape)
  .map((name) => (['kind', 'posting_mode'].includes(name) ? `e.${name}` : `l.${name}`))
  .join(', ');

/** The distinct lines of an installation's books, without amounts and parties. */
export function usedLines(db: Connection, installation: InstallationId): Promise<UsedLine[]> {
  return rows(
    db,
    shape,
    `select ${columns} from entry e join entry_line l on l.entry_id = e.id where e.installation = ? group by ${columns}
     order by ${columns}`,
    [installation],
  );
}
