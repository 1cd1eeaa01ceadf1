import pg from 'pg';

/** The URL of a database on the server, with the same or another role. */
export function urlOfDatabase(server: string, name: string, role?: { name: string; password: string }): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  if (role) {
    url.username = role.name;
    url.password = role.password;
  }
  return url.href;
}

export function dropDatabase(server: string, name: string): Promise<void> {
  return runAlone(server, `drop database if exists ${name} with (force)`);
}

/**
 * Runs a statement on a new connection, because databases are created and dropped outside of transactions and pools.
 */
export async function runAlone(server: string, sql: string): Promise<void> {
  await queryAlone(server, sql);
}

/** The rows of a statement on a new connection. */
export async function queryAlone<Row extends pg.QueryResultRow>(server: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 10_000, query_timeout: 30_000 });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
