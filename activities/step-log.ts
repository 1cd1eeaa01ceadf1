import type { ApiUse } from '../src/domain/api-use.ts';
import type { PracticeError } from '../src/domain/practice-error.ts';
import { type Trouble, troubleAfter } from '../src/domain/trouble.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { Counters } from '../src/practice/counters.ts';
import type { PlainError } from '../src/texts/plain-error.ts';
import { addUse, noUse } from '../workflows/messages.ts';
import { plainErrorOf } from './failures.ts';

/** The cost of an activity's attempts so far, and the trouble that keeps them from continuing. */
export class StepLog {
  #before: ApiUse = noUse;
  readonly #clients: Pick<PracticeClient, 'counters'>[] = [];
  readonly #clock: () => Date;
  /** The request that fails; null if unknown. */
  #action: string | null = null;
  #trouble: Trouble | null = null;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  /** Continues with the cost and trouble of the earlier attempts. */
  resume({ api, trouble }: { api: ApiUse; trouble: Trouble | null }): void {
    this.#before = api;
    this.#trouble = trouble;
  }

  get trouble(): Trouble | null {
    return this.#trouble;
  }

  /** Counts the requests of a client here. */
  counted<Client extends Pick<PracticeClient, 'counters'>>(client: Client): Client {
    this.#clients.push(client);
    return client;
  }

  /** The cost of all attempts so far. */
  use(): ApiUse {
    return this.#clients.reduce((sum, client) => addUse(sum, useOf(client.counters())), this.#before);
  }

  /**
   * Records the result of a request: a success, or a failure that is repeated. Returns whether it ended the trouble.
   */
  requested(error: PracticeError | null, action: string): boolean {
    if (error !== null) {
      this.#action = action;
      this.failed(plainErrorOf(error));
      return false;
    }
    // Only a success of the same request ends the trouble. A success of another request proves nothing, and neither
    // does a success after another kind of error.
    if (this.#trouble === null || this.#action !== action) return false;
    this.#trouble = null;
    return true;
  }

  failed(error: PlainError): void {
    this.#trouble = troubleAfter(this.#trouble, error, this.#clock());
  }
}

function useOf({ requests, weight, throttled, waitedMs }: Counters): ApiUse {
  return { requests, weight, throttled, waited_seconds: Math.round(waitedMs) / 1000 };
}
