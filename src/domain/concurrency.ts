/** Waits until all have ended, so that nothing works on behind a failure; then throws the first failure. */
export async function settleAll(running: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(running);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/**
 * Does the work for every item, so many at a time. After a failure it begins no more, and throws it when those under way have
 * ended.
 */
export async function forEachAtATime<Item>(
  atATime: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  let failed = false;
  const worker = async () => {
    for (let next = waiting.next(); !next.done && !failed; next = waiting.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await settleAll(Array.from({ length: atATime }, worker));
}

/**
 * The end of work that heeds a signal: its result, its error, or the signal's reason where it failed after that. Work that has
 * not ended so long after the signal is left; `onLeft` is called then, and the signal's reason thrown.
 */
export async function endWithin<Result>(
  ms: number,
  running: Promise<Result>,
  signal: AbortSignal,
  onLeft: () => void = () => undefined,
): Promise<Result> {
  const left = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const startTimer = () => {
    timer = setTimeout(() => {
      onLeft();
      left.reject(signal.reason);
    }, ms);
  };
  if (signal.aborted) startTimer();
  else signal.addEventListener('abort', startTimer, { once: true });
  try {
    return await Promise.race([running, left.promise]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', startTimer);
    clearTimeout(timer);
  }
}
