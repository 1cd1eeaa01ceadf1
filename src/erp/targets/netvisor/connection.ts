import { createHmac, randomUUID } from 'node:crypto';
import type { NetvisorConfig } from '../../../config/erp.ts';
import type { Clock } from '../../../domain/clock.ts';
import { keepSecret } from '../../../domain/redact.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import type { Logger } from '../../deliver/slice.ts';
import type { RequestOptions, WriteOptions } from '../../port.ts';
import { explain } from '../api/explain.ts';
import { FormError } from '../api/form.ts';
import {
  type Access,
  type Answer,
  answerTo,
  ErpHttp,
  type ErpRequest,
  type ErpTransport,
  type Outcome,
  pageError,
  resultOf,
  type TargetPorts,
  withRetry,
} from '../api/http.ts';
import { elementIn, elementsIn, readXml, textIn, writeXml, type Xml, type XmlElement } from '../api/xml.ts';
import { netvisorCapabilities } from './capabilities.ts';

const erp = 'Netvisor';
/** The name of this software in Netvisor's log. */
const sender = 'vetledger';
/** The language of error texts. Names of voucher types are Finnish in it, as in Netvisor's examples. */
const language = 'FI';
const algorithm = 'HMACSHA256';
/** Keys and names are signed in this encoding. */
const signedAs = 'latin1';
const bodyType = 'text/xml; charset=ISO-8859-15';
const firstServerError = 500;

/** Netvisor's XML API. Each request is signed, has its own id, and is sent once. */
export class NetvisorConnection {
  readonly #config: NetvisorConfig;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  readonly #http: ErpTransport;

  constructor(config: NetvisorConfig, { clock, log, transport }: TargetPorts) {
    this.#config = config;
    this.#clock = clock;
    this.#log = log;
    keepSecret(config.clientSecret);
    keepSecret(config.password);
    this.#http = transport ?? new ErpHttp(config, erp, log);
  }

  /** The company of every request. Netvisor keeps books in euros only, and its API names no currency. */
  get company(): { id: string; currency: string } {
    return { id: this.#config.company, currency: 'EUR' };
  }

  get(resource: string, query: Record<string, string>, request: RequestOptions): Promise<XmlElement> {
    const call = { access: 'reads', verb: 'GET', path: pathOf(resource, query), body: '', id: randomUUID() } as const;
    return this.#send(call, request);
  }

  /** Sends a document. Netvisor refuses the id of an earlier request, so a repeated body has the id of the first one. */
  post(
    { resource, query = {}, root }: { resource: string; query?: Record<string, string>; root: readonly Xml[] },
    request: WriteOptions,
  ): Promise<XmlElement> {
    const body = writeXml(['root', root]);
    const path = pathOf(resource, query);
    return this.#send({ access: 'writes', verb: 'POST', path, body, id: request.attemptId }, request);
  }

  close(): void {
    this.#http.close();
  }

  /** Throws ErpError. */
  async #send(
    {
      access,
      verb,
      path,
      body,
      id,
    }: Pick<ErpRequest, 'path' | 'body'> & { access: Access; verb: 'GET' | 'POST'; id: string },
    request: RequestOptions,
  ): Promise<XmlElement> {
    const [method = ''] = path.split('?');
    const headers = {
      ...{ accept: 'text/xml', ...(body === '' ? {} : { 'content-type': bodyType }) },
      ...this.#signature(path, id),
    };
    const sent = { verb, path, headers, body, encoding: 'iso-8859-15', method: `${verb} ${method}` } as const;
    const answer = await answerTo(this.#http, access, sent, request);
    const result = resultOf(outcomeOf(answer), { access, method: sent.method, answer, name: erp }, this.#log);
    return result as XmlElement;
  }

  #signature(path: string, transactionId: string): Record<string, string> {
    const { url, user: customerId, password: customerKey, clientId, clientSecret: partnerKey, company } = this.#config;
    const now = new Date(this.#clock.now());
    const timestamp = now.toISOString().replace('T', ' ').replace('Z', '');
    const seconds = String(Math.floor(now.getTime() / 1_000));
    // The address as it is sent: with the host in lower case, and without the default port.
    const address = new URL(`${url}${path}`).href;
    const signed = [
      ...[address, sender, customerId, timestamp, language, company, transactionId, seconds],
      ...[customerKey, partnerKey],
    ];
    const mac = createHmac('sha256', Buffer.from(`${customerKey}&${partnerKey}`, signedAs));
    return {
      'X-Netvisor-Authentication-Sender': sender,
      'X-Netvisor-Authentication-CustomerId': customerId,
      'X-Netvisor-Authentication-PartnerId': clientId,
      'X-Netvisor-Authentication-Timestamp': timestamp,
      'X-Netvisor-Authentication-TimestampUnix': seconds,
      'X-Netvisor-Authentication-TransactionId': transactionId,
      'X-Netvisor-Interface-Language': language,
      'X-Netvisor-Organisation-ID': company,
      'X-Netvisor-Authentication-MACHashCalculationAlgorithm': algorithm,
      'X-Netvisor-Authentication-MAC': mac.update(signed.join('&'), signedAs).digest('hex'),
    };
  }
}

/** The values are digits, dates and commas, so they need no encoding, and the address is signed as it is sent. */
function pathOf(resource: string, query: Record<string, string>): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return [`/${resource}`, ...(parameters.length === 0 ? [] : [parameters.join('&')])].join('?');
}

/** Netvisor answers errors with HTTP status 200 and the status FAILED. */
function outcomeOf(answer: Answer): Outcome {
  const { status, text } = answer;
  const shown = status < firstServerError ? statusIn(text) : null;
  if (shown === null) return { error: pageError(answer, netvisorCapabilities.errors) };
  const [first, ...others] = shown.texts;
  if (first === 'OK') return { result: shown.root };
  const message = others.join(' ');
  const code = /^([A-Z_]{1,40}) ::/.exec(message)?.[1] ?? null;
  const said = { http: status, code, text: message || erpAnswerTexts.withoutText };
  return { error: withRetry(explain(said, netvisorCapabilities.errors), answer) };
}

/** The texts of the status: OK, or FAILED and the error. Null if the answer is not one of Netvisor. */
function statusIn(text: string): { root: XmlElement; texts: string[] } | null {
  try {
    const root = readXml(text);
    const texts = elementsIn(elementIn(root, 'responsestatus'), 'status').map((each) => each.text.trim());
    const isKnown = texts[0] === 'OK' ? texts.length === 1 : texts[0] === 'FAILED';
    return root.name === 'root' && isKnown ? { root, texts } : null;
  } catch (error) {
    if (error instanceof FormError) return null;
    throw error;
  }
}

/** The id of a new record in an answer. Throws FormError. */
export function insertedId(root: XmlElement): string {
  const id = textIn(elementIn(root, 'replies'), 'inserteddataidentifier');
  if (!/^\d{1,15}$/.test(id)) throw new FormError(erpAnswerTexts.notAnId({ id: id.slice(0, 40), erp }));
  return id;
}
