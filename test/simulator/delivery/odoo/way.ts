// The connection of a simulated process to the fake Odoo: each request takes time, and may fail in any way.

import { unlessAborted } from '../../../../src/domain/concurrency.ts';
import { ErpError } from '../../../../src/erp/port.ts';
import { type Answer, type ErpRequest, NoAnswer } from '../../../../src/erp/targets/api/http.ts';
import type { OdooTransport } from '../../../../src/erp/targets/odoo/connection.ts';
import type { RequestInfo } from '../../../erp/fake/target.ts';
import type { SimulatedTime } from '../../../erp/fake/time.ts';
import type { OdooAnswer } from '../../../erp/odoo/client.ts';
import { accessDenied, OdooError, serializationFailure } from '../../../erp/odoo/fake/errors.ts';
import type { FakeOdoo } from '../../../erp/odoo/fake/index.ts';
import { page } from '../../../erp/odoo/fake/index.ts';
import type { Way } from '../erp.ts';

export interface WayPorts {
  odoo: FakeOdoo;
  time: SimulatedTime;
  /** The server calls this when it has carried out a request. */
  onDone(): void;
  /** Records that the client broke a rule of the ERP. */
  misdeed(text: string): void;
  /** The number of requests that may run at the same time. */
  atOnce: number;
  mayWorkMs: number;
}

const writing: Record<string, RequestInfo['kind']> = { load: 'create', action_post: 'post', unlink: 'withdrawDrafts' };

export class SimulatedWay implements OdooTransport {
  readonly #ports: WayPorts;
  readonly #way: Way;

  constructor(ports: WayPorts, way: Way) {
    this.#ports = ports;
    this.#way = way;
  }

  close(): void {}

  async send(request: ErpRequest, { signal }: { signal: AbortSignal }): Promise<Answer> {
    const { life, underWay } = this.#way;
    const { atOnce, misdeed } = this.#ports;
    const { kind } = infoOf(request, this.#ports.odoo);
    const isWriting = kind !== 'find';
    if (isWriting) await life.step(`before ${kind}`, false);
    signal.throwIfAborted();
    const mine = { life };
    underWay.add(mine);
    const alive = [...underWay].filter((other) => !other.life.isDead);
    if (alive.length > atOnce) misdeed(`${alive.length} requests at once, where ${atOnce} may be`);
    try {
      return await this.#exchange(request, signal);
    } finally {
      if (isWriting) await life.step(`after ${kind}`, true);
      underWay.delete(mine);
    }
  }

  async #exchange(request: ErpRequest, signal: AbortSignal): Promise<Answer> {
    const { time, mayWorkMs } = this.#ports;
    const info = infoOf(request, this.#ports.odoo);
    const { outMs, workMs, lateMs = 0, backMs, fault } = this.#way.network(info);
    const giveUp = new AbortController();
    const noAnswer = new NoAnswer('no answer in time (response time-out)', true);
    const cancel = time.at(time.nowMs + this.#way.timeoutMs, () => giveUp.abort(noAnswer));
    const either = AbortSignal.any([signal, giveUp.signal]);
    const left = mayWorkMs - outMs - 1;
    const atWorkMs = Math.max(0, lateMs > 0 ? left + lateMs : Math.min(workMs, left));
    const sent = this.#send(request, fault, outMs, atWorkMs);
    // The server continues even if the client stops waiting.
    sent.catch(() => undefined);
    try {
      if (info.kind !== 'find') await this.#way.life.step(`during ${info.kind}`, true);
      const answer = await unlessAborted(sent, either);
      await time.sleep(backMs, either);
      return answer;
    } finally {
      cancel();
    }
  }

  async #send(request: ErpRequest, fault: string, outMs: number, workMs: number): Promise<Answer> {
    const { time } = this.#ports;
    await time.sleep(outMs);
    const isJson2 = request.path.startsWith('/json/2/');
    const says = (error: OdooError) => answered(saidBy(error, isJson2, idOf(request)));
    switch (fault) {
      case 'unreachable':
        throw new NoAnswer('no connection (connect ECONNREFUSED)', false);
      case 'request_lost':
        throw new NoAnswer('the connection broke off (ECONNRESET)', true);
      case 'page':
        return answered(page(502, '<html><body>Bad Gateway</body></html>'));
      case 'throttled':
        return answered({ ...page(429, 'Too Many Requests'), headers: { 'retry-after': '5' } });
      case 'busy':
        return request.body.includes('"load"')
          ? answered(importOf(serializationFailure(), isJson2, idOf(request)))
          : says(serializationFailure());
      case 'auth':
        return says(isJson2 ? new OdooError('werkzeug.exceptions.Unauthorized', 'Invalid apikey') : accessDenied());
      case 'strange':
        return says(new OdooError('builtins.RecursionError', 'maximum recursion depth exceeded'));
      default:
        return this.#work(request, fault, workMs);
    }
  }

  async #work(request: ErpRequest, fault: string, workMs: number): Promise<Answer> {
    const { time } = this.#ports;
    const isJson2 = request.path.startsWith('/json/2/');
    const done = (async () => {
      await time.sleep(workMs);
      if (fault === 'server_dies') return null;
      const answer = this.#ports.odoo.handle(request);
      this.#ports.onDone();
      return answer;
    })();
    done.catch(() => undefined);
    if (fault === 'answer_lost') {
      await time.sleep(Math.min(50, workMs));
      throw new NoAnswer('the connection broke off (ECONNRESET)', true);
    }
    const answer = await done;
    if (answer === null) throw new NoAnswer('the connection broke off (ECONNRESET)', true);
    if (fault === 'page_though_done') return answered(page(502, '<html><body>Bad Gateway</body></html>'));
    if (fault === 'strange_though_done') {
      return answered(
        saidBy(new OdooError('builtins.RecursionError', 'maximum recursion depth exceeded'), isJson2, idOf(request)),
      );
    }
    const isCut = fault === 'truncated' || fault === 'half';
    return answered(isCut ? { ...answer, body: answer.body.slice(0, answer.body.length / 2) } : answer);
  }
}

function answered({ status, headers, body }: OdooAnswer): Answer {
  return { status, text: body, retryAfter: headers['retry-after'] ?? null, ids: { request: 'simulated' } };
}

function saidBy({ exception: name, message }: OdooError, isJson2: boolean, id: number): OdooAnswer {
  const data = { name, message, arguments: [message], context: {}, debug: 'Traceback …' };
  const status = name === 'werkzeug.exceptions.Unauthorized' ? 401 : 500;
  const error = { code: 200, message: 'Odoo Server Error', data };
  const value = isJson2 ? data : { jsonrpc: '2.0', id, error };
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status: isJson2 ? status : 200, headers, body: JSON.stringify(value) };
}

/** An import also reports errors of the database among its messages, as if they concerned one of its rows. */
function importOf({ message }: OdooError, isJson2: boolean, id: number): OdooAnswer {
  const messages = [{ rows: { from: 0, to: 2 }, record: 0, type: 'error', message }];
  const result = { ids: false, messages, nextrow: 0 };
  const body = JSON.stringify(isJson2 ? result : { jsonrpc: '2.0', id, result });
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

/** The id of a JSON-RPC request. */
function idOf({ body }: ErpRequest): number {
  return (JSON.parse(body) as { id: number }).id;
}

interface Body {
  ids?: number[];
  data?: string[][];
  params?: { args?: [unknown, unknown, unknown, string, string, unknown[], { data?: string[][] }] };
}

/** The kind of a request, and the keys of its entries. */
function infoOf({ path, body }: ErpRequest, odoo: FakeOdoo): RequestInfo {
  const value = JSON.parse(body) as Body;
  const [, ofPath, methodOfPath] = /^\/json\/2\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const [, , , model = ofPath, method = methodOfPath ?? '', places = [], named = {}] = value.params?.args ?? [];
  const kind = model === 'account.move' ? (writing[method] ?? 'find') : 'find';
  if (kind === 'create') {
    const rows = named.data ?? value.data ?? [];
    return { kind, keys: rows.flatMap(([id = '']) => (id === '' ? [] : id.replace('vetledger.', ''))) };
  }
  const ids = new Set((kind === 'find' ? [] : (places[0] ?? value.ids ?? [])) as number[]);
  const known = odoo.core.store.rows('ir.model.data').filter((row) => row.module === 'vetledger');
  const ours = known.filter((row) => row.model === 'account.move' && ids.has(row.res_id as number));
  return { kind, keys: ours.map(({ name }) => String(name)) };
}

/** Adds the keys of a call's entries to its errors. */
export async function heard<Result>(work: Promise<Result>, way: Way, info: RequestInfo): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ErpError) way.onError(info, error);
    throw error;
  }
}
