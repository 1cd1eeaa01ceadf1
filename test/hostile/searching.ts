// Gathers what a daemon says and leaves outside of PostgreSQL, and searches it.

import type { Client } from '@temporalio/client';
import { textOf } from '../support/personal.ts';

/** What is searched, by where it was found. */
export interface Places {
  stdout: string;
  stderr: string;
  answers: string;
  histories: string;
}

/** What an HTTP server of the daemon answers. */
export async function answersOf(url: string): Promise<string> {
  const paths = ['metrics', 'healthz', 'readyz', 'nothing'];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(`${url}/${path}`)).text()));
  return answers.join('\n');
}

/** Histories of workflows and what Temporal tells of them beside: search attributes, memo, details. By run id the workflow id. */
export async function historiesOf(client: Client, runs: ReadonlyMap<unknown, unknown>): Promise<string[]> {
  const histories: string[] = [];
  for (const [run, workflow] of runs) {
    if (typeof run !== 'string' || typeof workflow !== 'string') continue;
    const handle = client.workflow.getHandle(workflow, run);
    histories.push(textOf(await handle.fetchHistory()), textOf((await handle.describe()).raw));
  }
  return histories;
}

/** Which of these texts are where. */
export function leaks(places: Partial<Places>, texts: Iterable<string>): { place: string; text: string }[] {
  const wanted = [...texts];
  return Object.entries(places).flatMap(([place, said]) =>
    wanted.filter((text) => said.includes(text)).map((text) => ({ place, text })),
  );
}
