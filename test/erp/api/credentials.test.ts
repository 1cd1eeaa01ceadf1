import { describe, expect, test } from 'vitest';
import { ErpError } from '../../../src/erp/port.ts';
import {
  ClientCredentials,
  type ClientCredentialsOptions,
  signedIn,
} from '../../../src/erp/targets/api/credentials.ts';
import { type Answer, type ErpRequest, NoAnswer } from '../../../src/erp/targets/api/http.ts';

const log = { debug() {}, info() {}, warn() {} };
const request = { signal: new AbortController().signal };

/** Gives the tokens `t1`, `t2`, … on a clock that the test sets. */
function open({ answer = {}, ...options }: { answer?: Partial<Answer> } & Partial<ClientCredentialsOptions> = {}) {
  const sent: ErpRequest[] = [];
  const time = { ms: 0 };
  const credentials = new ClientCredentials({
    ...{ erp: 'ERP', path: '/token', clientId: 'id', clientSecret: 'a secret', sentAs: 'form', log },
    clock: { elapsed: () => time.ms },
    transport: {
      async send(each) {
        sent.push(each);
        const text = JSON.stringify({ access_token: `t${sent.length}`, expires_in: 3_600 });
        return { status: 200, text, retryAfter: null, ids: { request_id: 'r' }, ...answer } as Answer;
      },
    },
    ...options,
  });
  const token = async () => (await credentials.headers(request)).authorization;
  return { credentials, sent, time, token };
}

describe('client credentials are sent', () => {
  const form = 'application/x-www-form-urlencoded';
  test.each<[string, Partial<ClientCredentialsOptions>, Partial<ErpRequest>]>([
    [
      'as a form',
      { form: { api_key: 'k&1' } },
      {
        headers: { 'content-type': form },
        body: 'grant_type=client_credentials&api_key=k%261&client_id=id&client_secret=a+secret',
      },
    ],
    [
      'with Basic authentication, form-encoded before they are joined',
      { sentAs: 'basic', clientSecret: 'ä:b%', form: { scope: 'a b' }, headers: { TenantId: '77' } },
      {
        // echo -n 'id:%C3%A4%3Ab%25' | base64
        headers: { TenantId: '77', authorization: 'Basic aWQ6JUMzJUE0JTNBYiUyNQ==', 'content-type': form },
        body: 'grant_type=client_credentials&scope=a+b',
      },
    ],
  ])('%s', async (_, options, expected) => {
    const { sent, token } = open(options);
    expect(await token()).toBe('Bearer t1');
    expect(sent).toEqual([{ path: '/token', method: 'token', ...expected }]);
  });
});

describe('a token', () => {
  const of = (expires_in?: unknown) => ({ text: JSON.stringify({ access_token: 'token', expires_in }) });
  test.each<[string, Partial<Answer>, { used: number; renewed: number }]>([
    ['of an hour', of(3_600), { used: 3_539, renewed: 3_541 }],
    ['of 10 seconds', of(10), { used: 8, renewed: 9.1 }],
    ['with the seconds as a text', of('3600'), { used: 3_539, renewed: 3_541 }],
    ['without seconds', of(), { used: 600_000, renewed: 604_801 }],
    ['with 0 seconds', of(0), { used: 600_000, renewed: 604_801 }],
    ['with negative seconds', of(-5), { used: 600_000, renewed: 604_801 }],
    ['of a century', of(3e9), { used: 600_000, renewed: 604_801 }],
  ])('%s is used until shortly before its end', async (_, answer, { used, renewed }) => {
    const { sent, time, token } = open({ answer });
    await token();
    time.ms = used * 1_000;
    await token();
    expect(sent).toHaveLength(1);
    time.ms = renewed * 1_000;
    await token();
    expect(sent).toHaveLength(2);
  });

  test('is requested once for concurrent requests', async () => {
    const { sent, token } = open();
    expect(await Promise.all([token(), token(), token()])).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t1']);
    expect(sent).toHaveLength(1);
  });

  test('that the ERP refuses is replaced once', async () => {
    const { credentials, sent, token } = open();
    const seen: (string | undefined)[] = [];
    const status = (refused: string[]) => async (headers: Record<string, string>) => {
      seen.push(headers.authorization);
      return { status: refused.includes(headers.authorization ?? '') ? 401 : 200 } as Answer;
    };
    expect(await signedIn(credentials, status(['Bearer t1']), request)).toEqual({ status: 200 });
    expect(seen).toEqual(['Bearer t1', 'Bearer t2']);
    // A late refusal of the old token does not end the new one.
    credentials.refused({ authorization: 'Bearer t1' });
    expect(await token()).toBe('Bearer t2');
    expect(await signedIn(credentials, status(['Bearer t2', 'Bearer t3']), request)).toEqual({ status: 401 });
    expect(sent).toHaveLength(3);
  });
});

describe('an answer without a token', () => {
  const refused = (error: unknown) => ({ status: 400, text: JSON.stringify({ error, error_description: 'a secret' }) });
  test.each<[string, Partial<Answer>, Partial<ErpError>]>([
    ['refuses the client', refused('invalid_client'), { means: 'auth', message: /: invalid_client$/ as never }],
    ['quotes a text', refused('the text <b>'), { means: 'auth', message: /: HTTP 400$/ as never }],
    ['is a page with 401', { status: 401, text: '<html>' }, { means: 'auth' }],
    ['is a page with 200', { text: '<html><body>Sign in</body></html>' }, { means: 'auth' }],
    ['is a list', { text: '[]' }, { means: 'auth' }],
    ['has a number', { text: '{"access_token": 12345678}' }, { means: 'auth' }],
    ['has a line end in its token', { text: '{"access_token": "a\\r\\nb"}' }, { means: 'auth' }],
    ['has a huge token', { text: `{"access_token": "${'x'.repeat(9_000)}"}` }, { means: 'auth' }],
    ['is huge', { text: `{"access_token": "t", "more": "${'x'.repeat(70_000)}"}` }, { means: 'auth' }],
    ['says to wait', { status: 429, text: '', retryAfter: '7' }, { means: 'throttled', retryAfterMs: 7_000 }],
    ['says that the server is down', { status: 503, text: '<html>', retryAfter: '30' }, { means: 'unsent' }],
  ])('%s', async (_, answer, { message, ...expected }) => {
    const { credentials } = open({ answer });
    const error = await credentials.headers(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ErpError);
    expect(error).toMatchObject(expected);
    expect((error as ErpError).message).not.toContain('a secret');
    if (message !== undefined) expect((error as ErpError).message).toMatch(message);
  });

  test('leaves the request unsent if the answer is lost', async () => {
    const transport = { send: () => Promise.reject(new NoAnswer('cut', true)) };
    await expect(open({ transport }).token()).rejects.toMatchObject({ means: 'unsent' });
  });

  test('does not keep an aborted request waiting', async () => {
    const transport = { send: () => new Promise<Answer>(() => {}) };
    const { credentials } = open({ transport });
    await expect(credentials.headers({ signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop');
  });
});
