// The examples of the OpenAPI description: the test sends them unchanged to a sandbox whose clock shows the day in the
// description.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeApi, type Sandbox, startSandbox } from '../src/index.ts';

interface Media {
  content?: { 'application/json'?: { schema: { $ref: string }; example?: unknown } };
}
interface Operation {
  operationId: string;
  description?: string;
  parameters?: { in: string; name: string; example?: unknown }[];
  requestBody?: Media;
  responses: Record<string, Media>;
}

const description = (await describeApi()) as {
  info: { description: string };
  paths: Record<string, Record<string, Operation>>;
  components: object;
};
const operationsOf = (paths: typeof description.paths) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
const operations = operationsOf(description.paths);
type Listed = (typeof operations)[number];
const withBody = operations.filter(({ requestBody }) => requestBody);
const jsonOf = (media: Media | undefined) => media?.content?.['application/json'];

/** Actions of staff between the examples, through control endpoints. */
const staff: Record<string, object> = {
  'POST /sandbox/wholesalers': { available_wholesaler: 51, customer_number: '40118', customer_password: 'secret' },
  'POST /sandbox/orders': { wholesaler: 902, lines: [{ product_number: 'AB-100', quantity: '4' }] },
  'POST /sandbox/quirks': { externalInfo: 'subresource' },
};

/** The examples that must come first, according to the operation's description. */
const before = (operationId: string): string[] =>
  /Its example comes after those of (.*)\.$/
    .exec(operations.find((one) => one.operationId === operationId)?.description ?? '')?.[1]
    ?.split(', ') ?? [];

describe('a fresh sandbox accepts', () => {
  let sandbox: Sandbox;
  const send = (method: string, path: string, body?: unknown) =>
    fetch(`${sandbox.url}${path}`, {
      method,
      headers: { authorization: 'Bearer explorer-token', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const sendExample = ({ method, path, parameters = [], requestBody }: Listed) => {
    const filled = parameters.reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path);
    return send(method, `/4711/api/0.1${filled}`, jsonOf(requestBody)?.example);
  };

  beforeAll(async () => {
    const startsAt = /--now (\S+)\.$/.exec(description.info.description)?.[1] as string;
    sandbox = await startSandbox({ startsAt, clockRuns: false, rateWindowSeconds: 0 });
    sandbox.installations[0]?.takeSnapshot('fresh');
  });
  afterAll(() => sandbox.stop());

  test.each(withBody)('the example of $operationId', async (operation) => {
    sandbox.installations[0]?.restoreSnapshot('fresh');
    const done = new Set<string>();
    const prepare = async (name: string): Promise<void> => {
      for (const earlier of before(name)) await prepare(earlier);
      if (done.has(name)) return;
      done.add(name);
      const earlier = operations.find(({ operationId }) => operationId === name);
      const answer = earlier
        ? await sendExample(earlier)
        : await send(...(name.split(' ') as [string, string]), staff[name]);
      expect(answer.ok ? '' : `${name}: ${await answer.text()}`).toBe('');
    };
    await prepare(operation.operationId);
    sandbox.setQuirks({ externalInfo: 'patch' });
  });
});

/** The examples of a description that do not match its schemas. */
const problemsOf = ({ paths, components }: typeof description): string[] => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return operationsOf(paths).flatMap(({ operationId, requestBody, responses }) => {
    // A bulk request answers 207 if some of its records fail.
    const media = [['body', requestBody] as const, ...Object.entries(responses)].filter(([status]) => status !== '207');
    return media.flatMap(([status, one]) => {
      const json = jsonOf(one);
      if (!json) return [];
      if (json.example === undefined) return [`${operationId} ${status}: no example`];
      const fits = ajv.validate({ components, ...json.schema }, json.example);
      return fits ? [] : [`${operationId} ${status}: ${ajv.errorsText()}`];
    });
  });
};

test('every body, every answer and every error has an example, as its schema says', () => {
  expect(problemsOf(description)).toEqual([]);
});

test('the examples are strict, and another installation has those that name it', async () => {
  const others = [{ installation: 4712, invoices: 10, quirks: { strict: true } }];
  const sandbox = await startSandbox({ invoices: 10, others });
  try {
    const text = await (await fetch(`${sandbox.url}/4712/schema/`)).text();
    expect(problemsOf(JSON.parse(text))).toEqual([]);
    expect(text).toContain('/4712/api/0.1/client/2001/');
    expect(text).not.toContain('/4711/');
  } finally {
    await sandbox.stop();
  }
});
