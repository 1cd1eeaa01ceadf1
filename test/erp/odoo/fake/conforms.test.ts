import { beforeAll, describe, expect, test } from 'vitest';
import { OdooClient } from '../client.ts';
import { scriptedCalls } from './conforms/all.ts';
import { declareScripts, measuredNames } from './conforms/measured.ts';
import { type OdooVersion, World } from './conforms/world.ts';
import { FakeOdoo } from './index.ts';
import { listen } from './listen.ts';

const versions: OdooVersion[] = [17, 18, 19];

describe.each(versions)('the fake of Odoo %i does what the real one was seen to do', (version) => {
  let world: World;
  beforeAll(async () => {
    const odoo = new FakeOdoo({ version, clock: { now: Date.now } });
    odoo.addKey('admin', 'a key');
    const login = { database: 'fake', user: 'admin', password: 'admin' };
    world = await new World(version, new OdooClient(async (request) => odoo.handle(request), login), 'fake').prepare();
    world.key = 'a key';
  });
  declareScripts(version, () => world);
});

test('every measured case has a script', () => {
  expect(measuredNames.toSorted()).toEqual(scriptedCalls.map(({ name }) => name).toSorted());
});

test('the fake answers over a socket, too', async () => {
  const server = await listen(new FakeOdoo({ version: 18, clock: { now: Date.now } }));
  const answer = await fetch(new URL('/jsonrpc', server.url), {
    method: 'POST',
    body: JSON.stringify({ params: { service: 'common', method: 'version', args: [] } }),
  });
  expect(await answer.json()).toMatchObject({ result: { server_version: '18.0' } });
  await server.close();
});
