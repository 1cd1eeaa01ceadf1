// Changes the calls of a target on their way to Odoo, so that a test gets a target that omits or ignores something.

import type { Answer, ErpRequest } from '../../../../src/erp/targets/api/http.ts';
import type { OdooTransport } from '../../../../src/erp/targets/odoo/connection.ts';
import { directWay } from '../fake/company.ts';
import type { FakeOdoo } from '../fake/index.ts';

/** A method call over JSON-RPC. A mutant may change it before it is sent. */
export interface SentCall {
  model: string;
  method: string;
  /** Named arguments, including the context. */
  named: Record<string, unknown> & { context: Record<string, unknown> };
  /** Positional arguments: ids. */
  places: unknown[];
}

export interface WireMutant {
  request?(call: SentCall): void;
  /** Replaces the result that the target receives. */
  result?(call: SentCall, result: unknown): unknown;
}

type Params = [unknown, unknown, unknown, string, string, unknown[], SentCall['named']];

/** A transport to a fake that changes calls. It keeps every sent call. */
export class ChangedWay implements OdooTransport {
  readonly sent: ErpRequest[] = [];
  readonly #inner: OdooTransport;
  readonly #mutant: WireMutant;

  constructor(odoo: FakeOdoo, mutant: WireMutant = {}) {
    this.#inner = directWay(odoo);
    this.#mutant = mutant;
  }

  async send(request: ErpRequest, options: { signal: AbortSignal }): Promise<Answer> {
    const body = JSON.parse(request.body) as { params: { args?: Params } };
    const { args } = body.params;
    if (args === undefined || args.length < 7) return this.#inner.send(request, options);
    const [, , , model, method, places, named] = args;
    const call: SentCall = { model, method, places, named };
    this.#mutant.request?.(call);
    const changed = { ...request, body: JSON.stringify(body) };
    this.sent.push(changed);
    const answer = await this.#inner.send(changed, options);
    const said = JSON.parse(answer.text) as { result?: unknown };
    if (this.#mutant.result === undefined || said.result === undefined) return answer;
    return { ...answer, text: JSON.stringify({ ...said, result: this.#mutant.result(call, said.result) }) };
  }

  /** Sends a request again after its client has stopped waiting. */
  async repeat(method: string): Promise<void> {
    const request = this.sent.findLast(({ body }) => body.includes(`"account.move","${method}"`));
    if (request === undefined) throw new Error(`no ${method} was sent`);
    await this.#inner.send(request, { signal: new AbortController().signal });
  }

  close(): void {}
}
