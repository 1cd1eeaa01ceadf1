import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { reasonOf } from '../embedded/errors.ts';

const callTimeoutMs = 10_000;
const confirmTimeoutMs = 30_000;

/** The search attributes of our workflows (DESIGN: Temporal), by the name of their type at the command line. */
export const searchAttributes = {
  Installation: 'Keyword',
  SyncHealth: 'Keyword',
  WindowFrom: 'Datetime',
  WindowTo: 'Datetime',
} as const;

const types = {
  Keyword: encodeSearchAttributeIndexedValueType('KEYWORD')!,
  Datetime: encodeSearchAttributeIndexedValueType('DATETIME')!,
};

/**
 * Registers our search attributes in a namespace where they are missing, and waits until queries by them are accepted
 * (30 s at most). False, with one line of warning, where that is refused: the program then runs without them, as setting an
 * unregistered attribute fails a workflow task for ever.
 */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  progress: (line: string) => void,
): Promise<boolean> {
  const call = <T>(work: () => Promise<T>) => connection.withDeadline(Date.now() + callTimeoutMs, work);
  try {
    const listed = await call(() => connection.operatorService.listSearchAttributes({ namespace }));
    const missing: Record<string, (typeof types)[keyof typeof types]> = {};
    for (const [name, type] of Object.entries(searchAttributes)) {
      const registered = listed.customAttributes?.[name];
      if (registered === undefined) missing[name] = types[type];
      else if (registered !== types[type]) throw new Error(`${name} is registered with another type than ${type}`);
    }
    if (Object.keys(missing).length > 0) {
      await call(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing }));
    }
    await confirm(() => call(() => queryByAll(connection, namespace)));
    return true;
  } catch (error) {
    progress(
      `Temporal: going on without the search attributes ${Object.keys(searchAttributes).join(', ')} in namespace ${namespace}: ${reasonOf(error)}`,
    );
    return false;
  }
}

/** Servers answer from caches that lag behind a registration by seconds. */
async function confirm(accepted: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + confirmTimeoutMs;
  for (;;) {
    try {
      await accepted();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(250);
  }
}

function queryByAll(connection: Connection, namespace: string): Promise<unknown> {
  const query = Object.keys(searchAttributes)
    .map((name) => `${name} is null`)
    .join(' and ');
  return connection.workflowService.countWorkflowExecutions({ namespace, query });
}
