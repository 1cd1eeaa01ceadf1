// Collects a daemon's output and its data outside of PostgreSQL, and searches them.

import type { Client } from '@temporalio/client';
import { textOf } from '../support/personal.ts';

/** The texts in which the test looks for personal data, by the place they come from. */
export interface Places {
  stdout: string;
  stderr: string;
  answers: string;
  histories: string;
}

/** The answers of a daemon's HTTP server. */
export async function answersOf(url: string): Promise<string> {
  const paths = ['metrics', 'healthz', 'readyz', 'nothing'];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(`${url}/${path}`)).text()));
  return answers.join('\n');
}

/** Histories of workflows with their search attributes, memo and details. `runs` has the workflow id of each run id. */
export async function historiesOf(client: Client, runs: ReadonlyMap<unknown, unknown>): Promise<string[]> {
  const histories: string[] = [];
  for (const [run, workflow] of runs) {
    if (typeof run !== 'string' || typeof workflow !== 'string') continue;
    const handle = client.workflow.getHandle(workflow, run);
    histories.push(textOf(await handle.fetchHistory()), textOf((await handle.describe()).raw));
  }
  return histories;
}

/** The places at which these texts occur. */
export function leaks(places: Partial<Places>, texts: Iterable<string>): { place: string; text: string }[] {
  const wanted = [...texts];
  return Object.entries(places).flatMap(([place, said]) =>
    wanted.filter((text) => said.includes(text)).map((text) => ({ place, text })),
  );
}
