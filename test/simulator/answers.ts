// Faults of answers by name. `honest` faults leave every answer that arrives true, so a closed window has missed
// nothing. After the others, a later window must catch up.

import { gzipSync } from 'node:zlib';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { SourceAnswer, SourceRequest } from '../support/tampering.ts';

/** Returns the answer for the client, or the same object if the fault does not apply. Null breaks the connection. */
export type Strike = (
  answer: SourceAnswer,
  request: SourceRequest,
  rng: Rng,
) => SourceAnswer | null | Promise<SourceAnswer | null>;

export interface AnswerFault {
  strike: Strike;
  honest: boolean;
  /** The maximum number of affected answers, if more would make the life take minutes. */
  most?: number;
  /** True if nothing in the answer shows the fault, so that only a later count finds it. */
  unseen?: boolean;
  /** True if the fault makes windows wait. They are given up after a short while. */
  slow?: boolean;
}

const html = '<!DOCTYPE html><html><body><h1>Bad Gateway \u0000</h1></body></html>';
const json = { 'content-type': 'application/json' };
const hourMs = 3_600_000;

/** Replaces every answer. */
const instead =
  (make: (answer: SourceAnswer, rng: Rng) => SourceAnswer): Strike =>
  (answer, _request, rng) =>
    make(answer, rng);

const refused = (status: number, body: string, headers: Record<string, string> = {}): Strike =>
  instead((answer) => ({ status, body, headers: { ...keptOf(answer), ...json, ...headers } }));

function keptOf({ headers }: SourceAnswer): Record<string, string> {
  return headers.date === undefined ? {} : { date: headers.date };
}

/** The value of a JSON text; null if another fault has broken the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Changes the page of a list. */
const paged =
  (change: (page: Record<string, unknown>, results: unknown[], rng: Rng) => Record<string, unknown>): Strike =>
  (answer, { method }, rng) => {
    if (method !== 'GET' || answer.status !== 200) return answer;
    const page = parsed(answer.body);
    if (typeof page !== 'object' || page === null || !('results' in page) || !Array.isArray(page.results))
      return answer;
    // JSON numbers keep their digits, because the sandbox writes at most 15.
    return { ...answer, body: JSON.stringify(change({ ...page }, page.results, rng)) };
  };

const dated =
  (change: (date: number, rng: Rng) => string | null): Strike =>
  (answer, _request, rng) => {
    const date = change(Date.parse(answer.headers.date ?? ''), rng);
    const { date: _, ...headers } = answer.headers;
    return { ...answer, headers: date === null ? headers : { ...headers, date } };
  };

const http = (ms: number) => new Date(ms).toUTCString();

const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
const manyNumbers = gzipSync(Buffer.from(`{"count":1,"results":[{"id":1,"x":[${'1,'.repeat(4_000_000)}1]}]}`));

export const answerFaults: Record<string, AnswerFault> = {
  // Answers that do not arrive, or that report a failure.
  '500 HTML': {
    honest: true,
    strike: instead((answer) => ({
      ...answer,
      status: 500,
      body: html,
      headers: { ...keptOf(answer), 'content-type': 'text/html' },
    })),
  },
  '502 HTML': {
    honest: true,
    strike: instead((answer) => ({
      status: 502,
      body: html,
      headers: { ...keptOf(answer), 'content-type': 'text/html' },
    })),
  },
  '503 empty': { honest: true, strike: refused(503, '', { 'retry-after': '1' }) },
  '429 one second': { honest: true, most: 2, strike: refused(429, '{"detail":"slow down"}', { 'retry-after': '1' }) },
  '429 a billion seconds': {
    honest: true,
    most: 1,
    slow: true,
    strike: refused(429, '{}', { 'retry-after': '1000000000' }),
  },
  '429 until the year 9999': {
    honest: true,
    most: 1,
    slow: true,
    strike: refused(429, '{}', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  },
  '429 with text': { honest: true, most: 2, strike: refused(429, html, { 'retry-after': 'soon \u00e4' }) },
  '429 with a negative wait': { honest: true, most: 2, strike: refused(429, '', { 'retry-after': '-5' }) },
  '400 with a NUL': {
    honest: true,
    most: 3,
    strike: refused(400, '{"detail":"bad \\u0000 \\ud83d","modified__gte":["\\u202e no"]}'),
  },
  '401 HTML': { honest: true, most: 1, strike: refused(401, html) },
  '403 with an absurd body': { honest: true, most: 1, strike: refused(403, 'x'.repeat(300_000)) },
  'redirect to itself': {
    honest: true,
    most: 3,
    strike: (_answer, { path }) => ({ status: 302, body: '', headers: { location: path } }),
  },
  'redirect elsewhere': { honest: true, most: 3, strike: refused(307, '', { location: 'http://127.0.0.1:9/steal' }) },
  'connection reset': { honest: true, strike: () => null },
  'half a body': {
    honest: true,
    strike: instead((answer) => ({ ...answer, cutAfter: Math.floor(answer.body.length / 2) })),
  },
  'half a body of the right length': {
    honest: true,
    strike: instead((answer) => ({ ...answer, body: answer.body.slice(0, answer.body.length / 2) })),
  },
  'HTML with 200': {
    honest: true,
    strike: instead((answer) => ({
      ...answer,
      body: html,
      headers: { ...keptOf(answer), 'content-type': 'text/html' },
    })),
  },
  'empty with 200': { honest: true, strike: instead((answer) => ({ ...answer, body: '' })) },
  'null with 200': { honest: true, most: 3, strike: instead((answer) => ({ ...answer, body: 'null' })) },
  'another shape with 200': {
    honest: true,
    most: 3,
    strike: (answer, _, rng) => ({
      ...answer,
      body: rng.pick(['[]', '{}', '{"results":{}}', '{"count":1}', '"x"', '7', '{"count":0,"results":null}']),
    }),
  },
  'gzip bomb': {
    honest: true,
    most: 2,
    strike: instead((answer) => ({
      ...answer,
      bytes: bomb,
      headers: { ...answer.headers, 'content-encoding': 'gzip' },
    })),
  },
  'millions of numbers in 30 KB': {
    honest: false,
    unseen: true,
    most: 2,
    strike: instead((answer) => ({
      ...answer,
      bytes: manyNumbers,
      headers: { ...answer.headers, 'content-encoding': 'gzip' },
    })),
  },
  'no gzip although it says so': {
    honest: true,
    strike: instead((answer) => ({ ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' } })),
  },
  'brackets nested without end': {
    honest: true,
    most: 3,
    strike: instead((answer) => ({ ...answer, body: '['.repeat(200_000) })),
  },
  slow: {
    honest: true,
    strike: async (answer, _request, rng) => {
      await new Promise((resolve) => void setTimeout(resolve, rng.int(20, 250)));
      return { ...answer };
    },
  },
  'another content type': {
    honest: true,
    strike: (answer, _, rng) => ({
      ...answer,
      headers: {
        ...answer.headers,
        'content-type': rng.pick(['text/plain', 'application/octet-stream', 'text/html; charset=utf-16', 'image/png']),
      },
    }),
  },
  // Faults of the clocks in answers.
  'no Date': { honest: false, strike: dated(() => null) },
  'Date two hours ahead': { honest: false, strike: dated((date) => http(date + 2 * hourMs)) },
  'Date a year ahead': { honest: false, strike: dated((date) => http(date + 8766 * hourMs)) },
  'Date two hours behind': { honest: false, strike: dated((date) => http(date - 2 * hourMs)) },
  'Date of 1970': { honest: false, strike: dated(() => http(0)) },
  'Date of 9999': { honest: false, strike: dated(() => 'Fri, 31 Dec 9999 23:59:59 GMT') },
  'Date that is no date': { honest: false, strike: dated(() => 'yesterday') },
  'Date that steps': { honest: false, strike: dated((date, rng) => http(date + rng.int(-hourMs, hourMs))) },
  // Faults of lists.
  'absurd count': {
    honest: false,
    most: 6,
    strike: paged((page, _, rng) => ({ ...page, count: rng.pick([1e13, -1, 2 ** 53, 1.5, null, 'many', 1e300]) })),
  },
  'count as text': { honest: true, strike: paged((page) => ({ ...page, count: String(page.count) })) },
  'count one too high': {
    honest: false,
    most: 8,
    strike: paged((page) => ({ ...page, count: Number(page.count) + 1 })),
  },
  'empty page': { honest: false, most: 8, strike: paged((page) => ({ ...page, results: [] })) },
  'records twice': {
    honest: true,
    strike: paged((page, results, rng) => ({
      ...page,
      results: results.flatMap((one) => (rng.chance(0.2) ? [one, one] : [one])),
    })),
  },
  'a record less': {
    honest: false,
    most: 8,
    strike: paged((page, results) => ({ ...page, results: results.slice(0, -1) })),
  },
  'a hidden record': {
    honest: false,
    unseen: true,
    most: 6,
    strike: paged((page, results) =>
      results.length === 0 ? page : { ...page, count: Number(page.count) - 1, results: results.slice(1) },
    ),
  },
  'another order': {
    honest: true,
    strike: paged((page, results, rng) => ({
      ...page,
      results: results
        .map((one) => [rng.next(), one] as const)
        .sort(([a], [b]) => a - b)
        .map(([, one]) => one),
    })),
  },
  'an id beyond 2^53': {
    honest: false,
    most: 4,
    strike: (answer) => ({ ...answer, body: answer.body.replace(/"id":\d+/, '"id":9007199254740993') }),
  },
  'an id that is none': {
    honest: false,
    most: 4,
    strike: (answer, _, rng) => ({
      ...answer,
      body: answer.body.replace(/"id":\d+/, `"id":${rng.pick(['null', '"x"', '-1', '1.5', '{}'])}`),
    }),
  },
  'a member named __proto__': {
    honest: true,
    strike: (answer) => ({ ...answer, body: answer.body.replaceAll('{"id":', '{"__proto__":{"id":1},"id":') }),
  },
  'a record that is none': {
    honest: false,
    most: 4,
    strike: paged((page, results, rng) => ({ ...page, results: [...results.slice(1), rng.pick([null, 7, 'x', []])] })),
  },
};
