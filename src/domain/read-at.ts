/**
 * When a list of the source was read, by two clocks. Each instant is a lower bound of the answer's snapshot (DESIGN
 * "Sync"). The source's clock writes `modified` and may be wrong. The database's clock orders the requests of all
 * processes.
 */
export interface ReadAt {
  sourceTime: Date;
  askedAt: Date;
}

/** A ReadAt as stored in JSON. */
export interface SavedReadAt {
  sourceTime: string;
  askedAt: string;
}

/** When a series of answers was read: the earliest snapshot, and the arrival of the last answer. */
export interface ReadSpan extends ReadAt {
  /** The arrival of the last answer, by the database's clock. */
  answeredAt: Date;
}

/** The earlier of two readings, for each clock separately. */
export function earlierOf(one: ReadAt, other: ReadAt): ReadAt {
  return { sourceTime: earlier(one.sourceTime, other.sourceTime), askedAt: earlier(one.askedAt, other.askedAt) };
}

export function spanOf(one: ReadSpan, other: ReadSpan): ReadSpan {
  return { ...earlierOf(one, other), answeredAt: later(one.answeredAt, other.answeredAt) };
}

/** The earlier of the two clocks. Even if one of them is wrong, no earlier change has a later `modified`. */
export function agreedTime({ sourceTime, askedAt }: ReadAt): Date {
  return earlier(sourceTime, askedAt);
}

/**
 * How far the source's clock is ahead of the database's, in milliseconds; negative if it is behind. The result is too
 * low by up to the request's duration.
 */
export function skewMs({ sourceTime, askedAt }: ReadAt): number {
  return sourceTime.getTime() - askedAt.getTime();
}

export interface SavedSpan extends SavedReadAt {
  answeredAt: string;
}

export function savedSpan(span: ReadSpan): SavedSpan {
  return { ...savedReadAt(span), answeredAt: span.answeredAt.toISOString() };
}

export function readSpanOf(saved: SavedSpan): ReadSpan {
  return { ...readAtOf(saved), answeredAt: new Date(saved.answeredAt) };
}

export function savedReadAt({ sourceTime, askedAt }: ReadAt): SavedReadAt {
  return { sourceTime: sourceTime.toISOString(), askedAt: askedAt.toISOString() };
}

export function readAtOf({ sourceTime, askedAt }: SavedReadAt): ReadAt {
  return { sourceTime: new Date(sourceTime), askedAt: new Date(askedAt) };
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
