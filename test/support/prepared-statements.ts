// Statements of a test process are prepared under a name, so PostgreSQL parses each once per connection, and plans it a few times. Half of
// its time goes into parsing and planning otherwise. Programs that a test starts send their statements as in production.
import pg from 'pg';

interface Statement {
  text?: string;
  values?: unknown[];
  name?: string;
}

const installed = globalThis as { vetledgerPreparesStatements?: true };

// Test files share a process, and each of them runs this file.
if (installed.vetledgerPreparesStatements === undefined) {
  installed.vetledgerPreparesStatements = true;
  const names = new Map<string, string>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, statement: Statement | string, ...others: unknown[]) {
    const isNamed = typeof statement === 'string' || statement.name !== undefined;
    if (isNamed || statement.text === undefined || !statement.values?.length)
      return Reflect.apply(query, this, [statement, ...others]);
    const name = names.get(statement.text) ?? `test${names.size}`;
    names.set(statement.text, name);
    return Reflect.apply(query, this, [{ ...statement, name }, ...others]);
  } as typeof query;
}
