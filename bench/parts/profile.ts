// Adds up the processor time of a profiled program by its parts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  /** The microseconds before each sample. */
  timeDeltas: number[];
}

/** Samples of these are not processor time. */
const waiting = new Set(['(idle)', '(root)']);
export const garbageCollection = 'garbage collection';

/**
 * Seconds by part, over all threads with a profile in the folder. A part is a folder of our code, with everything that
 * it calls; otherwise it is the package, or Node.js.
 */
export function secondsByPart(folder: string): Map<string, number> {
  const parts = new Map<string, number>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
    const partOf = partsOf(profile);
    profile.samples.forEach((node, at) => {
      const part = partOf.get(node);
      if (part !== undefined) parts.set(part, (parts.get(part) ?? 0) + (profile.timeDeltas[at] ?? 0) / 1e6);
    });
  }
  return parts;
}

function partsOf({ nodes }: CpuProfile): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<number, string>();
  const visit = (id: number, own: string | null, library: string | null) => {
    const { callFrame, children = [] } = byId.get(id)!;
    const ours = /\/(src\/[^/]+|activities|workflows)\//.exec(callFrame.url)?.[1] ?? own;
    const packageName = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(callFrame.url)?.[1] ?? library;
    if (callFrame.functionName === '(garbage collector)') found.set(id, garbageCollection);
    else if (!waiting.has(callFrame.functionName)) found.set(id, ours ?? packageName ?? 'Node.js');
    for (const child of children) visit(child, ours, packageName);
  };
  visit(nodes[0]!.id, null, null);
  return found;
}
