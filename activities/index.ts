import { deliverActivities } from './deliver.ts';
import type { ActivityDeps } from './deps.ts';
import { onlyWhereServed } from './elsewhere.ts';
import { withLogIds } from './log-ids.ts';
import { postActivities } from './post.ts';
import { pullActivities } from './pull.ts';
import { replayActivities } from './replay.ts';
import { scrubActivities } from './scrub.ts';
import { summariseActivities } from './summarise.ts';
import { windowActivities } from './window.ts';
import { writeBackActivities } from './write-back.ts';

export function createActivities(deps: ActivityDeps) {
  const all = {
    ...windowActivities(deps),
    ...pullActivities(deps),
    ...postActivities(deps),
    ...deliverActivities(deps),
    ...replayActivities(deps),
    ...scrubActivities(deps),
    ...summariseActivities(deps),
    ...writeBackActivities(deps),
  };
  return withLogIds(onlyWhereServed(all, deps));
}

export type Activities = ReturnType<typeof createActivities>;
