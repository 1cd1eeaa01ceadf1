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

/** Between two passes where nothing new has come. Temporal's timers are as coarse as a second. */
const shortestPauseMs = 1_000;
/** As a share of the time that has passed: the passes stay few however long the load takes, and the last one has little left to do. */
const pauseShare = 1 / 20;

/**
 * The steps of a first load (DESIGN "Sync"): what is certain already is posted while the lists are pulled, and entry ids are written back
 * beside both. The rest is posted when everything is read, and `writeBack` is left to be called once more. `pullLists` calls `pulled`
 * after each list, `postSome` resolves to the number of its entries; it and `writeBack` say whether the next pass may have more to do at once.
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
 * Runs passes of a step until `isOver`: the first one after a pause, since most loads are small and over by then, the next one after
 * another, or once `news` has changed since the last one began. One that fails ends them: the step itself comes when the pull is over, and
 * says why.
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
