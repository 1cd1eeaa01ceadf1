import pg from 'pg';

export function urlOfDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export function dropDatabase(server: string, name: string): Promise<void> {
  return runAlone(server, `drop database if exists ${name} with (force)`);
}

/** Runs a statement on a connection of its own: a database is made and dropped outside transactions and pools. */
export async function runAlone(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 10_000, query_timeout: 30_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
