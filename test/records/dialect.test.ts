import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { actionOf, DialectError, limitOf, pathOf, weightOf } from '../../src/records/dialect.ts';

describe('the description of the practice API', () => {
  const dialect = loadDialect();

  test('the file that ships is valid', () => {
    expect(dialect.default_page_size).toBe(50);
    expect(dialect.max_page_size).toBe(1000);
    expect(dialect.external_info.mode).toBe('patch');
  });

  test('it is frozen, since all parts of a process share it', () => {
    const parts: [string, unknown][] = [['', dialect]];
    const open: string[] = [];
    for (let next = parts.pop(); next; next = parts.pop()) {
      const [path, part] = next;
      if (typeof part !== 'object' || part === null) continue;
      if (!Object.isFrozen(part)) open.push(path);
      parts.push(...Object.entries(part).map(([key, value]): [string, unknown] => [`${path}.${key}`, value]));
    }
    expect(open).toEqual([]);
  });

  test.each([
    ['invoice.list', 60],
    ['invoice.retrieve', 250],
    ['unallocatedpayment.list', 200],
    ['unallocatedpayment.retrieve', 800],
    ['invoicerow.list', 100],
    ['invoicepayment.retrieve', 300],
    ['accountnumber.list', 100],
    ['alternative_payer.write', 300],
    // An unlisted action gets the lowest limit of its kind.
    ['client.list', 60],
    ['settings_department.retrieve', 250],
    ['unallocatedpayment.write', 300],
  ])('limit of %s is %i', (action, limit) => {
    expect(limitOf(dialect, action)).toBe(limit);
  });

  test.each([
    [null, 1],
    [1, 1],
    [50, 1],
    [51, 2],
    [1000, 20],
  ])('page size %s weighs %i', (pageSize, weight) => {
    expect(weightOf(pageSize, 50)).toBe(weight);
  });

  test('paths end with a slash, also those of lists it does not know', () => {
    expect(pathOf(dialect, 'row')).toBe('invoicerow/');
    expect(pathOf(dialect, 'accountnumber')).toBe('accountnumber/');
    expect(actionOf(dialect, 'department_settings', 'retrieve')).toBe('settings_department.retrieve');
  });
});

describe('overrides of an installation', () => {
  test('replace the parts that they name, and leave the rest', () => {
    const dialect = loadDialect({
      fields: { row: { internal_account: 'invoice_row_extra.secondary_account' } },
      limits: { actions: { 'invoice.list': 30 } },
      external_info: { mode: 'subresource' },
      prepayment: { refund_lowers_unused_amount: false, statuses: { '7': 'pending' } },
      expose: { row: [] },
    });
    expect(dialect.fields.row.internal_account).toBe('invoice_row_extra.secondary_account');
    expect(dialect.fields.row.sum_total).toBe('sum_total');
    expect(limitOf(dialect, 'invoice.list')).toBe(30);
    expect(limitOf(dialect, 'invoice.retrieve')).toBe(250);
    expect(dialect.external_info.field).toBe('external_info');
    expect(dialect.prepayment.refund_lowers_unused_amount).toBe(false);
    expect(dialect.prepayment.statuses).toMatchObject({ '7': 'pending', ready: 'ready' });
    expect(dialect.expose.row).toEqual([]);
  });

  test.each([
    ['an unknown field', { fields: { invoice: { grand_total: 'x' } } }, 'fields.invoice'],
    ['an unknown part', { page_size: 50 }, 'page_size'],
    ['a page size of 0', { default_page_size: 0 }, 'default_page_size'],
    ['an unknown mode', { external_info: { mode: 'put' } }, 'external_info.mode'],
    ['a path without its slash', { paths: { invoice: 'invoice' } }, 'paths.invoice'],
    ['a field without a name', { fields: { payment: { paid: '' } } }, 'fields.payment.paid'],
    ['a limit of no known kind', { limits: { actions: { 'invoice.delete': 3 } } }, 'limits.actions'],
    ['no table', 'fields', 'the whole'],
  ])('%s is refused by name', (_, overrides, named) => {
    const load = () => loadDialect(overrides);
    expect(load).toThrow(DialectError);
    expect(load).toThrow(named);
  });
});
