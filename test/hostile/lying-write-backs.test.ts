import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { type SourceRequest, startTamperingProxy, type TamperingProxy } from '../support/tampering.ts';

let proxy: TamperingProxy;
let clinic: TestClinic;
beforeAll(async () => {
  proxy = await startTamperingProxy();
  clinic = await startTestClinic({ seed: 29, invoices: 30, settings: { base_url: proxy.url } });
  proxy.target = clinic.sandbox.url;
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
});
afterAll(async () => {
  await clinic?.stop();
  await proxy?.stop();
});
beforeEach(() => {
  delete proxy.instead;
});

const json = { 'content-type': 'application/json' };
const take = () => clinic.sandbox.clinic.takePrepayment({ payment_type: 0, paid: '25.00' }).id;
const shown = (id: number) => clinic.sandbox.clinic.prepayment(id).external_info.external_id ?? null;
const entryOf = (id: number) => `4711/prepayment/${id}/1`;

/** Changes a value without changing `modified`. */
function put(id: number, external_id: string | null): void {
  Object.assign(clinic.sandbox.clinic.prepayment(id).external_info, { external_id });
}

/** Replaces the source's handling of writes. */
function onWrite(answer: (id: number, externalId: string) => unknown): { writes: number } {
  const counted = { writes: 0 };
  proxy.instead = ({ method, path, body }: SourceRequest) => {
    const id = Number(/unallocatedpayment\/(\d+)\/$/.exec(path)?.[1]);
    if (method !== 'PATCH' || !Number.isInteger(id)) return undefined;
    counted.writes += 1;
    const { external_info } = JSON.parse(body) as { external_info: { external_id: string } };
    return { status: 200, headers: json, body: JSON.stringify(answer(id, external_info.external_id)) };
  };
  return counted;
}

async function e10() {
  const report = await clinic.reconcile();
  const [{ equations, listed }] = report.installations as [(typeof report.installations)[0]];
  return { ...equations.E10, listed: listed.write_backs };
}

async function problemsOf(id: number): Promise<{ code: string; message: string }[]> {
  const { stdout } = await vetledger(['problems', '--config', clinic.config, '--json'], clinic.env);
  const { problems } = JSON.parse(stdout) as { problems: { document: string; code: string; message: string }[] };
  return problems
    .filter(({ document }) => document === `prepayment ${id}`)
    .map(({ code, message }) => ({ code, message }));
}

async function explained(id: number) {
  const told = await vetledger(['explain', 'prepayment', String(id), '--config', clinic.config, '--json'], clinic.env);
  return told.json().write_back as { state: string; confirmed: boolean };
}

async function status() {
  const shown = await vetledger(['status', '--config', clinic.config, '--json'], clinic.env);
  return shown.json().installations[0] as {
    health: string;
    next_step: string;
    problems: number;
    write_backs: { confirmed: number; unconfirmed: number };
  };
}

const counted = async () => (await status()).write_backs;

test('what was written is confirmed by the read after it', async () => {
  const before = await counted();
  expect(before.unconfirmed).toBe(0);
  expect(before.confirmed).toBeGreaterThan(2);
  const id = take();
  const window = await clinic.sync();
  expect(window).toMatchObject({ written_back: 1 });
  expect(window.written_back_unconfirmed).toBeUndefined();
  expect(await explained(id)).toMatchObject({ state: 'done', confirmed: true });
  expect(await counted()).toEqual({ ...before, confirmed: before.confirmed + 1 });
  expect(await e10()).toMatchObject({ ok: true, difference: 0, documents: [], listed: { foreign: [], unproven: [] } });
});

test.each([
  ['an empty answer', () => ({})],
  ['an echo of what was not stored', (id: number, external_id: string) => ({ id, external_info: { external_id } })],
])('%s is no write-back: it is tried again, counted, and then a problem by name', async (_name, answer) => {
  const id = take();
  const written = onWrite(answer);
  const window = await clinic.sync();
  expect(window).toMatchObject({ outcome: 'closed', written_back: 0, written_back_unconfirmed: 1 });
  expect(await explained(id)).toMatchObject({ state: 'failed', confirmed: false });
  expect((await counted()).unconfirmed).toBe(1);
  const found = await e10();
  expect(found).toMatchObject({ ok: false, difference: 1 });
  expect(found.documents).toMatchObject([{ document: `prepayment ${id}` }]);

  for (let n = 0; n < 4; n++) await clinic.sync();
  expect(written.writes).toBe(3);
  expect(await problemsOf(id)).toMatchObject([{ code: 'write_back_unseen' }]);
  const nextStep = 'Run `vetledger problems` to see the problems, and what to do.';
  expect(await status()).toMatchObject({ health: 'held', problems: 1, next_step: nextStep });

  // The source works correctly again.
  delete proxy.instead;
  await vetledger(['problems', 'retry', entryOf(id).slice(0, -2), '--config', clinic.config, '--json'], clinic.env);
  expect(shown(id)).toBe(entryOf(id));
  expect(await problemsOf(id)).toEqual([]);
  // The last verdict is older than that.
  expect(await status()).toMatchObject({ health: 'held', problems: 0 });
  expect(await explained(id)).toMatchObject({ state: 'done', confirmed: true });
  expect(await e10()).toMatchObject({ ok: true });
  expect(await status()).toMatchObject({ health: 'ok', problems: 0 });
});

test('an id that was stored under another prepayment is a problem of both, by name', async () => {
  const other = take();
  await clinic.sync();
  const id = take();
  onWrite((written, external_id) => {
    put(other, external_id);
    return { id: written, external_info: { external_id } };
  });
  for (let n = 0; n < 4; n++) await clinic.sync();
  // Something else in the record changes, so that it is read again.
  clinic.sandbox.clinic.mergeExternalInfo(other, { note: 'x' });
  await clinic.sync();
  expect(shown(other)).toBe(entryOf(id));
  expect(await problemsOf(id)).toMatchObject([{ code: 'write_back_unseen' }]);
  expect(await problemsOf(other)).toMatchObject([{ code: 'external_id_of_another' }]);
  expect((await problemsOf(other))[0]!.message).toContain(entryOf(id));
  const { documents } = await e10();
  expect(documents!.map(({ document }) => document).sort()).toEqual([`prepayment ${id}`, `prepayment ${other}`].sort());

  delete proxy.instead;
  const ids = [id, other].map((each) => `4711/prepayment/${each}`);
  await vetledger(['problems', 'retry', ...ids, '--config', clinic.config, '--json'], clinic.env);
  expect([shown(id), shown(other)]).toEqual([entryOf(id), entryOf(other)]);
  expect(await e10()).toMatchObject({ ok: true });
});

test('one that was stored and lost later is a difference, and a problem by name', async () => {
  const id = take();
  await clinic.sync();
  expect(await explained(id)).toMatchObject({ confirmed: true });
  clinic.sandbox.clinic.mergeExternalInfo(id, { external_id: null, note: 'emptied' });
  await clinic.sync();
  expect(shown(id)).toBeNull();
  expect((await e10()).documents).toMatchObject([{ document: `prepayment ${id}` }]);
  expect(await problemsOf(id)).toMatchObject([{ code: 'write_back_lost' }]);
  expect(await explained(id)).toMatchObject({ confirmed: false });
  await vetledger(['problems', 'retry', `4711/prepayment/${id}`, '--config', clinic.config, '--json'], clinic.env);
  expect(shown(id)).toBe(entryOf(id));
  expect(await e10()).toMatchObject({ ok: true });
});

test('the value of another program is listed, and never overwritten', async () => {
  const id = take();
  await clinic.sync();
  clinic.sandbox.clinic.mergeExternalInfo(id, { external_id: 'SAP-7' });
  await clinic.sync();
  const found = await e10();
  expect(found).toMatchObject({ ok: true });
  expect(found.listed.foreign).toMatchObject([{ document: `prepayment ${id}` }]);
  await vetledger(['problems', 'retry', `4711/prepayment/${id}`, '--config', clinic.config, '--json'], clinic.env);
  expect(shown(id)).toBe('SAP-7');
});

test('a server whose writes leave `modified` as it is is read by pages of the list: one weighs as much as fifty', async () => {
  const ids = Array.from({ length: 25 }, take);
  proxy.instead = ({ method, path, body }) => {
    const id = Number(/unallocatedpayment\/(\d+)\/$/.exec(path)?.[1]);
    if (method !== 'PATCH' || !Number.isInteger(id)) return undefined;
    const { external_info } = JSON.parse(body) as { external_info: { external_id: string } };
    put(id, external_info.external_id);
    return { status: 200, headers: json, body: '{}' };
  };
  const lists = () => clinic.sandbox.stats().byAction['unallocatedpayment.list']!.weight;
  const before = lists();
  expect(await clinic.sync()).toMatchObject({ written_back: 25 });
  // The window makes three requests: its own, one page before the writes, and one page after them.
  expect(lists() - before).toBe(3);
  expect(ids.map(shown)).toEqual(ids.map(entryOf));
  expect(await e10()).toMatchObject({ ok: true });
});
