import { text } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';

export async function serverVersion(db: Connection): Promise<string> {
  const { version } = await row(db, { version: text }, `select current_setting('server_version') as version`);
  return version;
}
