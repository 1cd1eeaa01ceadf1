// The mirror keeps exactly the mapped members of a record (`keep_raw`), and makes no version for changes of others.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { savePage } from '../../src/mirror/save-page.ts';
import type { FindOwnEchoes } from '../../src/mirror/types.ts';
import type { Dialect } from '../../src/records/dialect.ts';
import { fieldMapOf, keptText } from '../../src/records/field-map.ts';
import { readJson, stringifyJson } from '../../src/records/json.ts';
import { parseRecord } from '../../src/records/schema.ts';
import { type RawKeeping, type RecordKind, recordKinds } from '../../src/terms.ts';
import { useDatabase } from '../support/database.ts';
import { answerTimes } from '../support/practice-list.ts';
import { runs } from '../support/runs.ts';
import { sandboxRecords } from '../support/sandbox-records.ts';
import { query } from '../support/sql.ts';

const dialect = loadDialect();
const samples = sandboxRecords();
const keepMapped = (kind: RecordKind, raw: string, by: Dialect = dialect) =>
  keptText(readJson(raw), fieldMapOf(by, kind));

describe('the text that is kept', () => {
  const keys = [
    ...['notes', 'patient', 'a"b', 'a\\', '__proto__', 'constructor', 'ünï', 'id2', '', 'vetledger:other'],
    ...['payer_city', 'results', 'modified_by'],
  ];
  const extraValue = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('1.50', '-0.0', '1e400', '12345678901234567890', 'null', 'true', '""', '[]', '{}', '[ ]', '{ }'),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.constantFrom('"}]"', '"\\\\"', '"\\"id\\":7,"', '"\\u007d"'),
      fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join(' , ')}]`),
      fc
        .array(fc.tuple(fc.constantFrom('id', 'url', '__proto__', 'x'), tie('value')), { maxLength: 3 })
        .map((all) => `{${all.map(([key, value]) => `"${key}" : ${value}`).join(',')}}`),
    ),
  })).value;
  const extra = fc.tuple(fc.constantFrom(...keys), extraValue).map(([key, value]) => `${JSON.stringify(key)}:${value}`);
  const space = fc.constantFrom('', ' ', '\n\t');

  test.each(recordKinds)('has the facts of the whole text: %s', (kind) => {
    const record = fc.constantFrom(...samples[kind]).chain((raw) => {
      const members = Object.entries(readJson(raw) as object).map(
        ([key, value]) => `${JSON.stringify(key)}:${stringifyJson(value)}`,
      );
      return fc
        .tuple(
          fc.array(extra, { maxLength: 6 }),
          // A repeated key, once with an escape: the last one counts.
          fc.array(fc.tuple(fc.constantFrom(...members), fc.constantFrom(...members)), { maxLength: 3 }),
          fc.infiniteStream(fc.nat()),
          space,
        )
        .map(([extras, twice, places, gap]) => {
          const all = [...members];
          const repeated = twice.map(([one]) =>
            one.replace(/^"(\w)/, (_, first: string) => `"\\u00${first.charCodeAt(0).toString(16)}`),
          );
          for (const one of [...extras, ...repeated]) {
            all.splice((places.next().value ?? 0) % (all.length + 1), 0, one);
          }
          return `${gap}{${gap}${all.join(`${gap},${gap}`)}${gap}}${gap}`;
        });
    });
    fc.assert(
      fc.property(record, (raw) => {
        const kept = keepMapped(kind, raw);
        expect(parseRecord(kind, readJson(kept), dialect)).toEqual(parseRecord(kind, readJson(raw), dialect));
        expect(kept).not.toMatch(/"(?:notes|patient|payer_city|constructor|__proto__)"\s*:/);
        expect(keepMapped(kind, kept)).toBe(kept);
      }),
      { numRuns: runs(500) },
    );
  });

  test('is in one order and by value', () => {
    const raw = '{ "zip":"1", "paid": 10.00 ,"info":"x","id":7,"invoice":{"name":"Rex","id": 3.0},"more":[1,{"id":2}]}';
    expect(keepMapped('payment', raw)).toBe('{"id":7,"invoice":{"id":3},"paid":10}');
    expect(keepMapped('payment', '{"info":"x"}')).toBe('{}');
    expect(keepMapped('payment', '{"paid":90071992547409931.10}')).toBe('{"paid":90071992547409931.1}');
  });

  test('has what is sent back, the parts that rows are posted by, and the mark of a record that was too large', () => {
    expect(keepMapped('prepayment', '{"external_info":{"till":{"no":1}},"x":1}')).toBe(
      '{"external_info":{"till":{"no":1}}}',
    );
    const row = '{"invoice_row_extra":{"account_number":"1","note":"x"},"invoicerow_vat_group":{"name":"A","by":"y"}}';
    expect(keepMapped('row', row)).toBe(
      '{"invoice_row_extra":{"account_number":"1"},"invoicerow_vat_group":{"name":"A"}}',
    );
    const large = '{"id":1,"vetledger:too_large":"is too large (9)"}';
    expect(keepMapped('invoice', large)).toBe(large);
    expect(keepMapped('row', '{"invoicerow_vat_group":{"by":"y"}}')).toBe('{"invoicerow_vat_group":{}}');
  });

  test('names of a reference are cut, in lists of them, too', () => {
    const raw = '{"client":{"id":4,"name":"Aino"},"consolidated_invoices":[{"url":"/i/1/","by":"Aino"}, 2]}';
    expect(keepMapped('invoice', raw)).toBe('{"client":{"id":4},"consolidated_invoices":[{"url":"/i/1/"},2]}');
  });

  test('follows the names of the installation', () => {
    const own = loadDialect({ fields: { payment: { paid: 'sums.paid' } } });
    expect(keepMapped('payment', '{"paid":1,"sums":{"paid":2,"by":"x"}}', own)).toBe('{"sums":{"paid":2}}');
  });
});

describe('versions', () => {
  const { db } = useDatabase();
  let installation = 100;
  let seconds = 0;
  const client = (name: string) => ({ status: 3, payer_name: name, modified: '2026-05-04T07:00:00Z' });

  async function answer(
    keepRaw: RawKeeping,
    record: Record<string, unknown>,
    kind: RecordKind = 'invoice',
    findOwnEchoes?: FindOwnEchoes,
    by: Dialect = dialect,
  ) {
    const raw = JSON.stringify({ id: 1, ...record });
    const scope = { installation, timezone: 'Europe/Helsinki', dialect: by, keepRaw };
    const sourceTime = new Date(Date.parse('2026-05-04T08:00:00Z') + ++seconds * 10_000);
    const page = { results: [{ id: 1, value: readJson(raw) }], ...answerTimes({ sourceTime }) };
    return (await db.transaction((trx) => savePage(trx, scope, kind, page, findOwnEchoes))).pulled;
  }
  const inTable = async (table: 'mirror_record' | 'mirror_version') => {
    const found = await query<{ version: number; raw: string }>(
      db,
      `select version, raw::text as raw from ${table} where installation = ?`,
      [installation],
    );
    return found.map(({ version, raw }) => ({ version, raw: JSON.parse(raw) as object }));
  };
  const stored = async () => (await inTable('mirror_record'))[0];
  const older = async () => (await inTable('mirror_version')).map(({ raw }) => ({ raw }));

  test('a change of an unmapped field makes no version, and the field is not stored', async () => {
    installation++;
    expect(await answer('mapped', { ...client('A'), notes: 'one' })).toBe(1);
    expect(await answer('mapped', { ...client('A'), notes: 'two' })).toBe(0);
    expect(await answer('mapped', { ...client('B'), notes: 'two' })).toBe(1);
    expect(await stored()).toEqual({ version: 2, raw: { id: 1, ...client('B') } });
    expect(await older()).toEqual([{ raw: { id: 1, ...client('A') } }]);
  });

  test('with `all`, it makes one', async () => {
    installation++;
    expect(await answer('all', { ...client('A'), notes: 'one' })).toBe(1);
    expect(await answer('all', { ...client('A'), notes: 'two' })).toBe(1);
    expect(await stored()).toEqual({ version: 2, raw: { id: 1, ...client('A'), notes: 'two' } });
  });

  test.each([
    ['the same', 'one'],
    ['changed', 'two'],
  ])('changing to `mapped` makes none, and cuts what was stored whole; the rest is %s', async (_, notes) => {
    installation++;
    await answer('all', { ...client('A'), notes: 'one' });
    expect(await answer('mapped', { ...client('A'), notes })).toBe(0);
    expect(await stored()).toEqual({ version: 1, raw: { id: 1, ...client('A') } });
    expect(await answer('mapped', { ...client('A'), notes: 'three' })).toBe(0);
    expect(await answer('mapped', client('B'))).toBe(1);
    expect(await older()).toEqual([{ raw: { id: 1, ...client('A') } }]);
  });

  test('a record that changes with the setting leaves no whole version behind', async () => {
    installation++;
    await answer('all', { ...client('A'), notes: 'one' });
    expect(await answer('mapped', { ...client('B'), notes: 'one' })).toBe(1);
    expect(await older()).toEqual([{ raw: { id: 1, ...client('A') } }]);
  });

  test('changing to `all` makes none, and keeps the rest from the next answer on', async () => {
    installation++;
    await answer('mapped', { ...client('A'), notes: 'one' });
    expect(await answer('all', { ...client('A'), notes: 'one' })).toBe(0);
    expect(await stored()).toEqual({ version: 1, raw: { id: 1, ...client('A'), notes: 'one' } });
    expect(await answer('all', { ...client('A'), notes: 'two' })).toBe(1);
    expect(await answer('all', { ...client('B'), notes: 'two' })).toBe(1);
    expect(await stored()).toEqual({ version: 3, raw: { id: 1, ...client('B'), notes: 'two' } });
  });

  test.each([
    ['all', 'mapped'],
    ['mapped', 'all'],
  ] as const)('an erased name does not come back with a change from %s to %s', async (before, after) => {
    installation++;
    const record = { ...client('A'), notes: 'one' };
    await answer(before, record);
    await db.raw(`update mirror_record set raw = (raw::jsonb || '{"payer_name": null}')::json where installation = ?`, [
      installation,
    ]);
    expect(await answer(after, record)).toBe(0);
    expect(await answer(after, record)).toBe(0);
    expect((await stored())?.raw).toMatchObject({ payer_name: null });
  });

  describe('an edit of the list of fields', () => {
    const withMore = loadDialect({ fields: { invoice: { payer_country_code: 'country' } } });
    const record = { ...client('A'), payer_country_code: 'FI', country: 'SE' };
    const dirty = async () => {
      const [found] = await query<{ dirty: boolean }>(
        db,
        `select dirty from document where installation = ? and kind = 'invoice' and id = 1`,
        [installation],
      );
      return found?.dirty ?? false;
    };
    const judged = () => db.raw('update document set dirty = false where installation = ?', [installation]);

    test('makes no version; the document is judged again by the field that was not kept', async () => {
      installation++;
      await answer('mapped', record);
      await judged();
      expect(await answer('mapped', record)).toBe(0);
      expect(await dirty()).toBe(false);
      expect(await answer('mapped', record, 'invoice', undefined, withMore)).toBe(0);
      expect(await stored()).toEqual({ version: 1, raw: { id: 1, ...client('A'), country: 'SE' } });
      expect(await dirty()).toBe(true);
      await judged();
      expect(await answer('mapped', record, 'invoice', undefined, withMore)).toBe(0);
      expect(await dirty()).toBe(false);
      expect(await older()).toEqual([]);
    });

    test('and a change of the record make one version, of which the older has what both maps keep', async () => {
      installation++;
      await answer('mapped', record);
      expect(await answer('mapped', { ...record, payer_name: 'B' }, 'invoice', undefined, withMore)).toBe(1);
      expect(await stored()).toEqual({ version: 2, raw: { id: 1, ...client('B'), country: 'SE' } });
      expect(await older()).toEqual([{ raw: { id: 1, ...client('A') } }]);
    });

    test('brings no erased name back', async () => {
      installation++;
      await answer('mapped', record);
      await db.raw(
        `update mirror_record set raw = (raw::jsonb || '{"payer_name": null}')::json where installation = ?`,
        [installation],
      );
      for (const _ of [1, 2]) expect(await answer('mapped', record, 'invoice', undefined, withMore)).toBe(0);
      expect(await stored()).toEqual({ version: 1, raw: { id: 1, ...client('A'), payer_name: null } });
    });
  });

  test.each([
    ['all', 'mapped'],
    ['mapped', 'all'],
  ] as const)('what was written back is compared alike with a change from %s to %s', async (before, after) => {
    installation++;
    const compared: { previousRaw: string; raw: string }[] = [];
    const note: FindOwnEchoes = async (versions) => {
      compared.push(...versions);
      return new Set();
    };
    await answer(before, { paid: 1, info: 'a' }, 'prepayment');
    await answer(after, { paid: 1, info: 'b', external_info: { external_id: 'x' } }, 'prepayment', note);
    expect(compared).toEqual([
      { id: 1, previousRaw: '{"id":1,"paid":1}', raw: '{"external_info":{"external_id":"x"},"id":1,"paid":1}' },
    ]);
  });
});
