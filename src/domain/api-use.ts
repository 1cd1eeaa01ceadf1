/** The requests to the practice API, their weight, and the time spent waiting for the rate budget. */
export interface ApiUse {
  requests: number;
  weight: number;
  throttled: number;
  waited_seconds: number;
}
