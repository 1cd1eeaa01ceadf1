import { Client, Connection } from '@temporalio/client';
import type { App } from './app.ts';
import { findBinding } from './binding/bind.ts';
import { refusalError } from './binding/judge.ts';

/**
 * Runs work with a Temporal client, for a command without workers. Throws UserError `database_copied` if the database
 * looks like a copy, or `temporal_replaced`, unless `forCopies` is set: the workflows would belong to the original.
 */
export async function withTemporalClient<T>(
  app: App,
  work: (client: Client, connection: Connection) => Promise<T>,
  { forCopies = false } = {},
): Promise<T> {
  if (!app.temporal) throw new Error('this command was opened without Temporal');
  const { address, namespace } = app.temporal;
  const connection = await Connection.connect({
    ...app.config.temporal.security,
    address,
    connectTimeout: '10 seconds',
  });
  try {
    const client = new Client({ connection, namespace });
    if (!forCopies) {
      const { verdict } = await findBinding(app, client);
      if (verdict.is === 'refused') throw refusalError(verdict);
    }
    return await work(client, connection);
  } finally {
    await connection.close();
  }
}
