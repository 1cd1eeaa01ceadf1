import { beforeAll, describe, expect, test } from 'vitest';
import { hasOdoo } from '../../../support/odoo.ts';
import { declareScripts } from '../fake/conforms/measured.ts';
import { realVersion, realWorld } from '../fake/conforms/real.ts';
import type { World } from '../fake/conforms/world.ts';
import { schemaOf } from '../fake/schema.ts';

const version = hasOdoo ? await realVersion() : 17;

describe.skipIf(!hasOdoo)('a real Odoo does what the fake does', { timeout: 120_000 }, () => {
  let world: World;
  beforeAll(async () => {
    world = await realWorld();
  });

  declareScripts(version, () => world);

  test('its fields are those of the fake', async () => {
    const attributes = ['type', 'relation', 'required', 'readonly', 'store'];
    for (const { name, fields } of schemaOf(version).values()) {
      const told = await world.admin.call<Record<string, Record<string, unknown>>>(name, 'fields_get', [
        [],
        attributes,
      ]);
      for (const { name: field, type, relation, required, readonly, isStored: store } of fields.values()) {
        const own = { type, required, readonly, store, ...(relation === null ? {} : { relation }) };
        expect({ [`${name}.${field}`]: told[field] }).toEqual({ [`${name}.${field}`]: expect.objectContaining(own) });
      }
    }
  });
});
