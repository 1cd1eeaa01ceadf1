import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { ensureSearchAttributes } from '../../src/runtime/search-attributes.ts';

async function connect(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return connection;
}

test('search attributes are registered in a namespace without them', async () => {
  const connection = await connect(inject('temporalAddress'));
  const namespace = `fresh-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await expect
    .poll(
      () =>
        connection.workflowService.countWorkflowExecutions({ namespace }).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  const lines: string[] = [];
  expect(await ensureSearchAttributes(connection, namespace, (line) => lines.push(line))).toBe(true);
  expect(lines).toEqual([]);
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes ?? {})).toEqual(
    expect.arrayContaining(['Installation', 'SyncHealth', 'WindowNumber', 'WindowFrom', 'WindowTo']),
  );
});

test('where they are refused, one line warns', async () => {
  const connection = await connect(inject('temporalAddress'));
  const lines: string[] = [];
  expect(await ensureSearchAttributes(connection, 'no-such-namespace', (line) => lines.push(line))).toBe(false);
  expect(lines).toEqual([expect.stringContaining('continues without the search attributes')]);
});
