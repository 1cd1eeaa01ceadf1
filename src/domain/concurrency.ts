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

/** The end of work, or the signal's reason where that aborts first. What is left goes on, and what it fails with later is dropped. */
export async function unlessAborted<Result>(
  running: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return running;
  running.catch(() => undefined);
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([running, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The end of work, or an error where it has none after so long: a connection that broke without notice never answers. */
export async function within<Result>(ms: number, running: Promise<Result>): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms);
  try {
    return await unlessAborted(running, late.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The end of work that is given some time after a signal, or the error that `late` makes where it has none by then. */
export async function withGrace<Result>(
  ms: number,
  running: Promise<Result>,
  signal: AbortSignal,
  late: () => unknown,
): Promise<Result> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const startTimer = () => {
    timer = setTimeout(() => over.abort(late()), ms);
  };
  if (signal.aborted) startTimer();
  else signal.addEventListener('abort', startTimer, { once: true });
  try {
    return await unlessAborted(running, over.signal);
  } finally {
    signal.removeEventListener('abort', startTimer);
    clearTimeout(timer);
  }
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
  try {
    return await withGrace(ms, running, signal, () => {
      onLeft();
      return signal.reason;
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Waits. Throws the signal's reason when it aborts. `Clock.sleep` of the machine's clock (clock.ts). */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  try {
    await unlessAborted(over.promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
