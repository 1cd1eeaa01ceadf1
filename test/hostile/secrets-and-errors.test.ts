// Errors of a source, a database or a library, and what vetledger repeats of them.

import { PassThrough } from 'node:stream';
import type { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { toFailure, unexplainedError } from '../../activities/failures.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { rows } from '../../src/db/rows.ts';
import type { PracticeError } from '../../src/domain/practice-error.ts';
import { keepSecret, redact } from '../../src/domain/redact.ts';
import { visible } from '../../src/domain/text.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { createPracticeClient } from '../../src/practice/client.ts';
import { createLog } from '../../src/runtime/log.ts';
import { toUserError } from '../../src/runtime/user-errors.ts';
import { useDatabase } from '../support/database.ts';
import { hastyClock, json, keptLog, roomyBudget, startServer } from '../support/practice-fakes.ts';

const token = 'tok-SECRET-0123456789abcdef';
const { db } = useDatabase();

async function refusalOf(body: string, status = 400): Promise<{ error: PracticeError; told: string }> {
  const server = await startServer(json(body, status));
  const log = keptLog();
  const client = createPracticeClient({
    installation: 4711,
    baseUrl: server.url,
    auth: staticToken(token),
    dialect: loadDialect(),
    budget: roomyBudget(),
    log,
    clock: hastyClock(),
  });
  onTestFinished(async () => {
    client.close();
    await server.close();
  });
  const error = await client.list('invoice', { modified__gte: '2026-01-01', client__is: '31415' }, null).then(
    () => expect.unreachable(),
    (caught: unknown) => caught as PracticeError,
  );
  const failure = toFailure(error) as ApplicationFailure;
  const user = toUserError(error);
  const told = [
    ...[error.message, error.stack, String(failure), JSON.stringify(failure.details), user.message, user.todo],
    ...log.lines,
  ].join('\n');
  return { error, told };
}

describe('a refusal of the source', () => {
  test('names the fields and codes of its body; what it says about them is not repeated', async () => {
    const { error, told } = await refusalOf(
      '{"payer_name":["Virtanen, Aino is no payer"],"invoice":{"vat":["x"]},"detail":"modified__gte: no filter of Aino","code":"bad_filter"}',
    );
    expect(error.message).toContain('refused (400): code bad_filter; fields modified__gte, payer_name, invoice.vat');
    expect(told).not.toContain('Aino');
    expect(error.fields).toContain('modified__gte');
  });

  test('that repeats our token, whole, cut, encoded or as a field, spreads none of it', async () => {
    const long = 'x'.repeat(480);
    for (const said of [token, `Bearer ${token}`, `${long} Bearer ${token}`, `${long}Bearer ${token.slice(0, 10)}`]) {
      for (const body of [
        { detail: said },
        { [said]: ['no'] },
        [said],
        { code: said },
        { detail: [{ [token]: 'x' }] },
      ]) {
        const { told } = await refusalOf(JSON.stringify(body));
        expect(told).not.toContain('tok-SECR');
      }
    }
  });

  test.each([['"text"'], ['[[[["deep"]]]]'], ['{}'], ['<html>'], [`{"a\\u001b[31m":["x"]}`], ['{"\\u202e":1}']])(
    '%s says no more than its status',
    async (body) => {
      const { error } = await refusalOf(body);
      expect(error.message).toBe('GET /4711/api/0.1/invoice/: refused (400)');
    },
  );
});

describe('redaction', () => {
  test('comes before cutting, whatever stands around a secret', () => {
    const secret = 'Zq7!pass"word\\äö-0123456789';
    keepSecret(secret);
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      secret.slice(0, 12),
      secret.slice(9),
    ];
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...forms), fc.string(), (before, said, after) => {
        const told = redact(`${before} ${said} ${after}`);
        for (let at = 0; at + 8 <= secret.length; at++) expect(told).not.toContain(secret.slice(at, at + 8));
      }),
    );
  });

  test.each([
    ['authorization: Bearer abc.def-1', 'authorization: Bearer …'],
    ['Basic dXNlcjpwYXNz=', 'Basic …'],
    ['postgresql://vet:hunter2@db:5432/books refused', 'postgresql://vet:…@db:5432/books refused'],
    ['postgres://db/books?user=a&password=hunter2&x=1', 'postgres://db/books?user=a&password=…&x=1'],
    ['a bearer of news, basic needs', 'a bearer of news, basic needs'],
  ])('%s', (said, told) => {
    expect(redact(said)).toBe(told);
  });
});

describe('an error of the database', () => {
  test('names neither the values of the statement nor those of the rows', async () => {
    const error = await rows(db, {}, 'select ?::text, ?::bigint', ['Aino Virtanen', 'Aino Virtanen']).then(
      () => expect.unreachable(),
      (caught: unknown) => caught as Error,
    );
    const failure = toFailure(error) as Error;
    const told = [failure.message, failure.stack, toUserError(error).message, String(failure.cause)].join('\n');
    expect(told).not.toContain('Aino');
    expect(told).toContain('22P02');
  });

  const marked = fc
    .tuple(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }))
    .map((around) => around.join('Aino'));
  const column = 'entry_line';
  const shapes = [
    ...[
      'bigint',
      'date',
      'uuid',
      'json',
      'numeric',
      'boolean',
      'timestamptz',
      'interval',
      'inet',
      'int[]',
      'numrange',
    ].map((type) => `select ?::text::${type} as ${column}`),
    `select 1 as ${column} from nothing_here where 'x' = ?`,
    `select ${column} frm x where ?`,
    `insert into meta (key, value) values ('database_id', ?) returning '${column}'`,
    `insert into meta (key, value) values (null, ?) returning '${column}'`,
    `select 1 as ${column}, ?::text as undeclared`,
    `select ?::text as n, '${column}' as other where false`,
    `select '${column}' where ? = '' and 1 / (random() * 0)::int = 1`,
  ];

  test('of any shape leaves neither its statement nor a value in what is stored of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shapes), marked, fc.boolean(), async (sql, value, inTransaction) => {
        const stored = value.replaceAll('\0', '');
        const work = (on: Parameters<typeof rows>[0]) => rows(on, {}, sql, [stored]);
        const error = await (inTransaction ? db.transaction(work) : work(db)).then(
          () => expect.unreachable(sql),
          (caught: unknown) => caught,
        );
        const failure = toFailure(error);
        const plain = unexplainedError(error, failure);
        expect(plain?.code).toBe('unexpected');
        const told = [plain?.message, toUserError(error).message, ...said(failure)].join('\n');
        expect(told).not.toContain('Aino');
        expect(told).not.toMatch(/select |insert into/i);
      }),
      { numRuns: 150 },
    );
  });

  const said = (failure: unknown): (string | undefined)[] =>
    failure instanceof Error ? [failure.message, failure.stack, ...said(failure.cause)] : [];

  test('a full disk is named, with what to do, to the user and in the history', async () => {
    for (const raised of [
      await db
        .raw(`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
        .catch((e: unknown) => e),
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    ]) {
      expect(toUserError(raised)).toMatchObject({ code: 'disk_full', todo: expect.stringContaining('Free space') });
      const failure = toFailure(raised) as ApplicationFailure;
      expect(failure).toMatchObject({ type: 'disk_full', nonRetryable: false });
      expect(failure.details?.[0]).toMatchObject({ code: 'disk_full', todo: expect.stringContaining('Free space') });
    }
  });
});

test('the log holds no secret, no value of a statement and nothing that moves a cursor', () => {
  keepSecret(token);
  const lines: string[] = [];
  const out = new PassThrough();
  out.on('data', (chunk: Buffer) => lines.push(chunk.toString('utf8')));
  const log = createLog('info', out);
  const error = Object.assign(new Error(`insert … - failed for Bearer ${token}`), {
    detail: 'Failing row contains (Aino).',
    where: 'COPY Aino',
    bindings: ['Aino'],
  });
  log.warn({ err: error, name: 'a\u001b[2J\u202eb\u0085', token }, `refused ${token}\u0007`);
  const told = lines.join('');
  expect(told).not.toContain('SECRET');
  expect(told).not.toContain('Aino');
  expect(told).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  expect(JSON.parse(told)).toMatchObject({ name: 'a\u001b[2J\u202eb\u0085' });
});

test('control and direction characters become visible escapes; everything else stays', () => {
  expect(visible('a\u001b[31m\r\n\t\u202eb\u0085\u2028\u2066\ufeff')).toBe(
    'a\\u001b[31m\\r\\n\\t\\u202eb\\u0085\\u2028\\u2066\\ufeff',
  );
  for (const text of ['Kärkkäinen Öy', 'שלום', '👩‍⚕️ vet', '日本', 'a\\b']) expect(visible(text)).toBe(text);
});
