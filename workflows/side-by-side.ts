import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';

/**
 * Runs activities at once, and adds the report of each as it comes: what one has done and cost counts, although another one fails.
 * When one fails, the others are cancelled and awaited before this rejects, so that nothing of a failed window still runs when the
 * next one opens.
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

/** Between two passes of what goes on beside a first load's pull. */
const shortestPauseMs = 250;
/** As a share of the time that has passed: the passes stay few however long the load takes, and the last one has little left to do. */
const pauseShare = 1 / 20;

/**
 * The steps of a first load (DESIGN "Sync"): what is certain already is posted while the lists are pulled, and entry ids are written back
 * beside both. The rest is posted when everything is read, and `writeBack` is left to be called once more. A pass resolves to whether
 * the next one may have something to do at once.
 */
export async function streamLoad({
  pullLists,
  postAll,
  postSome,
  writeBack,
}: {
  pullLists: () => Promise<void>;
  postAll: () => Promise<void>;
  postSome: () => Promise<boolean>;
  writeBack: () => Promise<boolean>;
}): Promise<void> {
  let isPulled = false;
  let isPosted = false;
  await allOrCancel(
    () => {
      const posting = passes(postSome, () => isPulled);
      const main = async () => {
        await pullLists();
        isPulled = true;
        await posting;
        await postAll();
        isPosted = true;
      };
      return [main(), posting, passes(writeBack, () => isPosted)];
    },
    () => undefined,
  );
}

/** Runs passes of a step until `isOver`. One that fails ends them: the step itself comes when the pull is over, and says why. */
async function passes(step: () => Promise<boolean>, isOver: () => boolean): Promise<void> {
  const beganMs = Date.now();
  while (!isOver()) {
    try {
      if (await step()) continue;
    } catch (error) {
      if (isCancellation(error)) throw error;
      return;
    }
    await condition(isOver, Math.max(shortestPauseMs, (Date.now() - beganMs) * pauseShare));
  }
}
