// What a target says to Odoo, changed on its way: so a test has a target that leaves something out, or does not look.

import type { Answer, ErpRequest } from '../../../../src/erp/targets/api/http.ts';
import type { OdooTransport } from '../../../../src/erp/targets/odoo/connection.ts';
import { directWay } from '../fake/company.ts';
import type { FakeOdoo } from '../fake/index.ts';

/** A call of a method over JSON-RPC; what is changed in it is sent. */
export interface SentCall {
  model: string;
  method: string;
  /** By name, the context among them. */
  named: Record<string, unknown> & { context: Record<string, unknown> };
  /** By place: ids. */
  places: unknown[];
}

export interface WireMutant {
  request?(call: SentCall): void;
  /** What the target hears instead of a result. */
  result?(call: SentCall, result: unknown): unknown;
}

type Params = [unknown, unknown, unknown, string, string, unknown[], SentCall['named']];

/** The way to a fake on which calls are changed; every call that was sent is kept. */
export class ChangedWay implements OdooTransport {
  readonly sent: ErpRequest[] = [];
  readonly #inner: OdooTransport;
  readonly #mutant: WireMutant;

  constructor(odoo: FakeOdoo, mutant: WireMutant = {}) {
    this.#inner = directWay(odoo);
    this.#mutant = mutant;
  }

  async post(request: ErpRequest, options: { signal: AbortSignal }): Promise<Answer> {
    const body = JSON.parse(request.body) as { params: { args?: Params } };
    const { args } = body.params;
    if (args === undefined || args.length < 7) return this.#inner.post(request, options);
    const [, , , model, method, places, named] = args;
    const call: SentCall = { model, method, places, named };
    this.#mutant.request?.(call);
    const changed = { ...request, body: JSON.stringify(body) };
    this.sent.push(changed);
    const answer = await this.#inner.post(changed, options);
    const said = JSON.parse(answer.text) as { result?: unknown };
    if (this.#mutant.result === undefined || said.result === undefined) return answer;
    return { ...answer, text: JSON.stringify({ ...said, result: this.#mutant.result(call, said.result) }) };
  }

  /** A request of ours that takes effect once more, when nobody waits for it any more. */
  async repeat(method: string): Promise<void> {
    const request = this.sent.findLast(({ body }) => body.includes(`"account.move","${method}"`));
    if (request === undefined) throw new Error(`no ${method} was sent`);
    await this.#inner.post(request, { signal: new AbortController().signal });
  }

  close(): void {}
}
