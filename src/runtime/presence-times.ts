export interface PresenceTimes {
  heartbeatMs: number;
  /** A process without a heartbeat for this time counts as ended: it was killed, or hangs. */
  forgottenAfterSeconds: number;
  /** A process that cannot reach the database for this time ends. Its supervisor can restart it. */
  databaseLostMs: number;
}

export const presenceTimes: PresenceTimes = { heartbeatMs: 10_000, forgottenAfterSeconds: 60, databaseLostMs: 60_000 };
