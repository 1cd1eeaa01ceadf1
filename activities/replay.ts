import { z } from 'zod';
import { UserError } from '../src/domain/errors.ts';
import { leftOutText, planReplay, type ReplayChoice, replayTime } from '../src/sync/replay/plan.ts';
import type { Span } from '../src/sync/replay/spans.ts';
import { replayErrors } from '../src/texts/errors/replays.ts';
import type { PlannedReplay, ReplayRequest } from '../workflows/messages.ts';
import type { ActivityDeps } from './deps.ts';
import { fatal, plainErrorOf, toFailure } from './failures.ts';

/** The time-out of a replay is the time-out of a window, multiplied by one plus the number of days that it covers. */
const dayMs = 86_400_000;

export function replayActivities(deps: ActivityDeps) {
  return {
    /** Checks the request of an operator, which may come from the Temporal UI, and computes the intervals. */
    async planReplay(request: ReplayRequest): Promise<PlannedReplay> {
      try {
        const { installation, wanted } = wantedOf(deps, request);
        const { overlapSeconds } = installation;
        const { spans, leftOut } = await planReplay(deps.db, installation.id, wanted, {
          overlapMs: overlapSeconds * 1000,
          now: deps.clock(),
        });
        const { timeoutSeconds, searchAttributes } = deps.windows ?? { timeoutSeconds: 1_800, searchAttributes: false };
        return {
          ...{ installation: installation.id, searchAttributes },
          spans: spans.map((span) => ({ span, timeoutSeconds: timeoutSeconds * (1 + daysOf(span)) })),
          leftOut: leftOut.map(leftOutText),
        };
      } catch (error) {
        throw error instanceof UserError ? fatal(plainErrorOf(error)) : toFailure(error);
      }
    },
  };
}

function daysOf({ invoice: { from, to } }: Span): number {
  return from === null ? 0 : Math.max(0, Math.floor((to - from) / dayMs));
}

const requestSchema = z.strictObject({
  installation: z.int().positive(),
  windows: z.array(z.int().positive()).min(1).max(1_000).optional(),
  failed: z.literal(true).optional(),
  from: z.string().max(40).optional(),
  to: z.string().max(40).optional(),
});

/** Validates a request. Throws UserError if it is wrong, since an operator may have typed it into the Temporal UI. */
function wantedOf(deps: Pick<ActivityDeps, 'installations'>, request: unknown) {
  const parsed = requestSchema.safeParse(request);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    throw new UserError(replayErrors.inputInvalid({ field, reason: issue?.message ?? '' }), 2);
  }
  const { installation: id, windows, failed, from, to } = parsed.data;
  const installation = deps.installations.get(id);
  if (!installation) {
    const known = [...deps.installations.keys()].join(', ');
    throw new UserError(replayErrors.installationUnknown({ installation: id, known }), 2);
  }
  const hasTimes = from !== undefined || to !== undefined;
  if ([windows !== undefined, failed === true, hasTimes].filter(Boolean).length !== 1) {
    throw new UserError(replayErrors.oneOfThree(), 2);
  }
  const wanted: ReplayChoice = windows
    ? { by: 'windows', windows }
    : failed
      ? { by: 'failed' }
      : { by: 'times', from: replayTime(from, installation.timezone), to: replayTime(to, installation.timezone) };
  return { installation, wanted };
}
