import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { sleep } from '../domain/concurrency.ts';
import { searchAttributes } from '../domain/search-attributes.ts';
import { reasonOf } from '../embedded/service-error.ts';
import { serviceErrors } from '../texts/errors/services.ts';

const callTimeoutMs = 10_000;
const confirmTimeoutMs = 30_000;

type AttributeType = (typeof searchAttributes)[keyof typeof searchAttributes];

/** The types as the server encodes them. */
const encodedTypes = { Keyword: encoded('KEYWORD'), Datetime: encoded('DATETIME') } satisfies Record<
  AttributeType,
  unknown
>;

function encoded(type: 'KEYWORD' | 'DATETIME') {
  const value = encodeSearchAttributeIndexedValueType(type);
  if (value === undefined) throw new TypeError(`the Temporal SDK knows no search attributes of type ${type}`);
  return value;
}

/**
 * Registers missing search attributes in a namespace, and waits at most 30 s until queries accept them. If the server
 * refuses, reports one warning and returns false: the program then runs without them, since an unregistered attribute
 * would fail a workflow task for ever.
 */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  progress: (line: string) => void,
): Promise<boolean> {
  const call = <T>(work: () => Promise<T>) => connection.withDeadline(Date.now() + callTimeoutMs, work);
  try {
    const listed = await call(() => connection.operatorService.listSearchAttributes({ namespace }));
    const missing: Record<string, ReturnType<typeof encoded>> = {};
    for (const [name, type] of Object.entries(searchAttributes)) {
      const registered = listed.customAttributes?.[name];
      if (registered === undefined) missing[name] = encodedTypes[type];
      else if (registered !== encodedTypes[type])
        throw new Error(`${name} is registered with another type than ${type}`);
    }
    if (Object.keys(missing).length > 0) {
      await call(() => connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing }));
    }
    await confirm(() => call(() => queryByAll(connection, namespace)));
    return true;
  } catch (error) {
    const names = Object.keys(searchAttributes).join(', ');
    progress(serviceErrors.searchAttributesRefused({ names, namespace, reason: reasonOf(error) }));
    return false;
  }
}

/** Retries, because a server's cache may lag behind a registration by seconds. */
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
