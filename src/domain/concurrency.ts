/** Waits for all promises, so that no work continues after a failure, then throws the first failure. */
export async function settleAll(running: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(running);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/**
 * Does the work for every item, with at most `atATime` running. After a failure it starts no more, waits for the
 * running ones, and throws the failure.
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
 * The result of the work, or the signal's reason if it aborts first. The work then continues, and its later failure is
 * ignored.
 */
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

/** The result of the work, or an error after `ms`: a connection that broke silently never answers. */
export async function within<Result>(ms: number, running: Promise<Result>): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms / 1000} s`)), ms);
  try {
    return await unlessAborted(running, late.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of the work, or the error of `late` if it has not ended some time after the signal. */
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
 * The result of work that reacts to a signal, its error, or the signal's reason if it failed after the signal. If the
 * work has not ended `ms` after the signal, calls `onLeft` and throws the signal's reason.
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

/** Implements `Clock.sleep` with the machine's clock. Throws the signal's reason when it aborts. */
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
