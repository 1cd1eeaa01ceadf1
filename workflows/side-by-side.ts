import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';

/**
 * Runs activities in parallel, and adds the report of each as it ends: the work and cost of one count even if another
 * one fails. If one fails, the others are cancelled and awaited before this rejects, so that no activity of a failed
 * window runs when the next window opens.
 */
export function allOrCancel<T>(start: () => Promise<T>[], add: (report: T) => void): Promise<void> {
  return CancellationScope.cancellable(async () => {
    const started = start().map((running) => running.then(add));
    try {
      await Promise.all(started);
    } catch (error) {
      CancellationScope.current().cancel();
      await Promise.allSettled(started);
      throw error;
    }
  });
}

/** Pause between two passes without new records. Temporal's timers have a resolution of about one second. */
const shortestPauseMs = 1_000;
/**
 * The pause as a share of the elapsed time. It keeps the number of passes small in a long load, and leaves little work
 * to the last pass.
 */
const pauseShare = 1 / 20;

/**
 * The steps of a first load (DESIGN "Sync"). While the lists are pulled, documents that later records cannot change are
 * posted, and entry ids are written back. The rest is posted after all lists are read. The caller runs `writeBack` once
 * more afterwards. `pullLists` calls `pulled` after each list. `postSome` and `writeBack` return whether the next pass
 * may find more work at once.
 */
export async function streamLoad({
  pullLists,
  postAll,
  postSome,
  writeBack,
}: {
  pullLists: (pulled: () => void) => Promise<void>;
  postAll: () => Promise<void>;
  postSome: () => Promise<{ posted: number; isMore: boolean }>;
  writeBack: () => Promise<boolean>;
}): Promise<void> {
  let isPulled = false;
  let isPosted = false;
  let lists = 0;
  let posted = 0;
  const post = async () => {
    const report = await postSome();
    posted += report.posted;
    return report.isMore;
  };
  await allOrCancel(
    () => {
      const posting = passes(post, { isOver: () => isPulled, news: () => lists });
      const main = async () => {
        await pullLists(() => {
          lists += 1;
        });
        isPulled = true;
        await posting;
        await postAll();
        isPosted = true;
      };
      return [main(), posting, passes(writeBack, { isOver: () => isPosted, news: () => posted })];
    },
    () => undefined,
  );
}

/**
 * Repeats a step until `isOver`. The first pass waits, since most loads are small and end before it. The next pass
 * begins after a pause, or as soon as `news` has changed. A failure ends the passes: the step runs once more after the
 * pull, and reports the error then.
 */
async function passes(
  step: () => Promise<boolean>,
  { isOver, news }: { isOver: () => boolean; news: () => number },
): Promise<void> {
  const beganMs = Date.now();
  await condition(isOver, shortestPauseMs);
  while (!isOver()) {
    const known = news();
    try {
      if (await step()) continue;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return;
    }
    const pauseMs = Math.max(shortestPauseMs, (Date.now() - beganMs) * pauseShare);
    await condition(() => isOver() || news() !== known, pauseMs);
  }
}
