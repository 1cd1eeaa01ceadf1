// Reads the specification and starts the sandbox for the tests.
import { readFileSync } from 'node:fs';
import { beforeAll } from 'vitest';
import { startSandbox } from '../../src/index.ts';
import { describeApi } from '../../src/start.ts';
import { type Comparison, compareAll } from './compare-all.ts';
import type { Facts } from './context.ts';
import { eventOperations, sentEvents } from './events.ts';
import { type NotAField, notFields } from './not-fields.ts';
import { sandboxFacts } from './sandbox-facts.ts';
import { type Operations, operationsOf } from './schemas.ts';

export const markdown = readFileSync(new URL('../../specification.md', import.meta.url), 'utf8');

export interface World {
  operations: Operations;
  facts: Facts;
  /** Runs the comparison with a changed text, schema or constant. */
  compared: (changes?: {
    text?: string;
    operations?: Operations;
    facts?: Partial<Facts>;
    list?: readonly NotAField[];
  }) => Comparison;
}

/** Collects the sandbox's operations, events and limits for a test file. */
export const useWorld = (): (() => World) => {
  let world: World;
  beforeAll(async () => {
    const description = (await describeApi()) as { info: { version: string } };
    const sandbox = await startSandbox({ invoices: 10, rateWindowSeconds: 0 });
    const events = eventOperations(await sentEvents(sandbox.clinic));
    await sandbox.stop();
    const operations: Operations = new Map([...operationsOf(description), ...events]);
    const facts = await sandboxFacts(operations, description.info.version);
    world = {
      operations,
      facts,
      compared: ({ text = markdown, operations: served = operations, facts: other = {}, list = notFields } = {}) =>
        compareAll(text, served, { ...facts, ...other }, list),
    };
  });
  return () => world;
};
