export interface PresenceTimes {
  /** Between two heartbeats. */
  heartbeatMs: number;
  /** A process that was not heard of for so long is forgotten: it was killed, or stands still. */
  forgottenAfterSeconds: number;
  /** A process that has not reached the database for so long ends: it can do nothing, and its manager can start it anew. */
  databaseLostMs: number;
}

export const presenceTimes: PresenceTimes = { heartbeatMs: 10_000, forgottenAfterSeconds: 60, databaseLostMs: 60_000 };
