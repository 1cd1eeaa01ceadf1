/** What was asked of the practice API, and what waiting for its rate budget took. */
export interface ApiUse {
  requests: number;
  weight: number;
  throttled: number;
  waited_seconds: number;
}
