import { expect, test } from 'vitest';
import { ErpError } from '../../../src/erp/port.ts';
import type { OdooCall } from '../../../src/erp/targets/odoo/connection.ts';
import { findExternalIds } from '../../../src/erp/targets/odoo/external-ids.ts';

const request = { signal: new AbortController().signal, priority: 0 };

test('without the right to search external ids, each is requested alone, including those of archived records', async () => {
  const asked: unknown[] = [];
  const calls = {
    may: async () => false,
    call: async (_doing: string, { args = {}, context }: OdooCall) => {
      asked.push([args.xml_id, context]);
      if (args.xml_id === 'a') return ['res.partner', 7];
      if (args.xml_id === 'hidden') return ['res.partner', false];
      if (args.xml_id === 'other') return ['res.company', 9];
      throw new ErpError('refused', 'External ID not found in the system: vetledger.b');
    },
  };
  const ids = ['vetledger.a', 'vetledger.hidden', 'vetledger.other', 'vetledger.b'];
  expect(await findExternalIds(calls as never, 'res.partner', ids, request)).toEqual(new Map([['vetledger.a', 7]]));
  expect(asked[0]).toEqual(['a', { active_test: false }]);
});
