/**
 * When a list of the source was read, by two clocks; each instant is a lower bound of the moment at which the answer's snapshot
 * was taken (DESIGN "Sync"). The source's own clock is the one that writes `modified`; it may run ahead, behind, or be put back.
 * The database's clock puts the requests of all processes in order.
 */
export interface ReadAt {
  sourceTime: Date;
  askedAt: Date;
}

/** The same as JSON text holds it. */
export interface SavedReadAt {
  sourceTime: string;
  askedAt: string;
}

/** When a walk of several answers was read: the earliest of its answers, and by when the last had come. */
export interface ReadSpan extends ReadAt {
  /** By the database's clock. */
  answeredAt: Date;
}

/** By each clock, the earlier of two readings. */
export function earlierOf(one: ReadAt, other: ReadAt): ReadAt {
  return { sourceTime: earlier(one.sourceTime, other.sourceTime), askedAt: earlier(one.askedAt, other.askedAt) };
}

export function spanOf(one: ReadSpan, other: ReadSpan): ReadSpan {
  return { ...earlierOf(one, other), answeredAt: later(one.answeredAt, other.answeredAt) };
}

/** The earlier of the two clocks: whichever of them is wrong, no change before it is stamped later than it was read. */
export function agreedTime({ sourceTime, askedAt }: ReadAt): Date {
  return earlier(sourceTime, askedAt);
}

/** How far the source's clock is ahead of the database's, negative where it is behind; less by up to the request's duration. */
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
