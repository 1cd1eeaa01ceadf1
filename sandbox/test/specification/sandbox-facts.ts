// The facts of the sandbox outside its schemas: limits, messages, permissions, columns of catalogs.
import { maxOffset } from '../../src/http/listing.ts';
import { limitOf } from '../../src/http/rate.ts';
import { defaultQuirks } from '../../src/quirks.ts';
import { notYours } from '../../src/resources/available-wholesalers.ts';
import { routes } from '../../src/resources/index.ts';
import { expectedColumns, maxErrors, productTypes, readCatalog } from '../../src/supply/catalog-csv.ts';
import { maxCatalogBytes, uploadValidMs } from '../../src/supply/uploads.ts';
import { triggers } from '../../src/webhooks.ts';
import type { Column, Facts } from './context.ts';
import { accepts, bodyOf, type Operations, objectAt, type Schema } from './schemas.ts';

const values: Record<string, string> = {
  product_type: 'Medicine',
  product_number: 'AB-1',
  product_name: 'Kivuton',
  wholesale_price: '12.50',
  product_price: '20.00',
  vat: '24.00',
};

/** The number of errors of a catalog with one row. */
const errorsOf = async (row: Record<string, string>): Promise<number> => {
  const text = [Object.keys(row).join(','), Object.values(row).join(',')].join('\n');
  async function* file(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  return (await readCatalog(file())).errors.kept.length;
};

const without = (...names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

/** For each column, the errors of a catalog without it, with an empty cell, and with a word in it. */
const catalogFacts = async () => {
  const facts = new Map<string, { absent: number; blank: number; word: number }>();
  for (const name of Object.keys(values)) {
    facts.set(name, {
      absent: await errorsOf(without(name)),
      blank: await errorsOf({ ...values, [name]: '' }),
      word: await errorsOf({ ...values, [name]: 'word' }),
    });
  }
  return { facts, withoutPrices: await errorsOf(without('wholesale_price', 'product_price')) };
};

/** The maximum length of a text that a schema accepts. */
const lengthOf = (schema: Schema | undefined): number => {
  for (let length = 300; schema && length > 0; length--) if (accepts(schema, 'a'.repeat(length))) return length;
  return 0;
};
const shortest = (schema: Schema | undefined): number =>
  [...Array(300).keys()].find((length) => schema && accepts(schema, 'a'.repeat(length))) ?? 0;

export const sandboxFacts = async (operations: Operations, version: string): Promise<Facts> => {
  const { facts, withoutPrices } = await catalogFacts();
  const body = (key: string) => objectAt(bodyOf(operations.get(key)));
  const line = objectAt(bodyOf(operations.get('POST /wholesaler/{id}/receipts/')), ['receipt_lines'])?.properties ?? {};
  const lengths = ['id', 'product_number', 'barcode', 'product_name', 'invoice_number', 'batch_number'];
  const quantities = [...Array(12).keys()].filter(
    (digits) => line.quantity && accepts(line.quantity, '9'.repeat(digits)),
  );
  const decimals = [...Array(12).keys()].filter(
    (n) => line.quantity && accepts(line.quantity, `1.${'9'.repeat(n + 1)}`),
  );
  const salt = body('POST /available_wholesaler/')?.properties?.verification_salt;
  const reference = body('POST /order/{id}/set_wholesaler_reference_number/')?.properties;
  const erp = ['accountingreport', 'accountnumber', 'alternative_payer', 'alternativepricing'];
  const common = (actions: string[]): number[] => [
    ...new Set(erp.flatMap((name) => actions.map((one) => limitOf(`${name}.${one}`)))),
  ];
  const changes = ['retrieve', 'create', 'update', 'partial_update', 'destroy'];
  const keyOf = ({ method, path }: { method: string; path: string }) =>
    `${method} /${path.replace(/:[a-z_]+/g, '{id}')}`;
  return {
    version,
    prepaymentTrigger: triggers.prepayment,
    maxCatalogErrors: maxErrors,
    maxPageSize: defaultQuirks.maxPageSize,
    messages: [String((notYours().body as { detail: string }).detail)],
    permissionOf: (key) => routes.find((route) => keyOf(route) === key)?.permission,
    wholesalerOperations: routes.filter(({ scope }) => scope === 'wholesaler').map(keyOf),
    limits: {
      'Rate limit, list endpoints of accounting reports, account numbers, alternative payers, alternative pricings':
        common(['list']),
      'Rate limit, retrieve, create, update, delete on those resources': common(changes),
      'Rate limit, approximate, key ERP endpoints': [
        ...[limitOf('invoice.list'), 60, limitOf('invoice.retrieve'), 60],
        ...[limitOf('unallocatedpayment.list'), limitOf('unallocatedpayment.retrieve')].flatMap((limit) => [limit, 60]),
      ],
      Offset: [maxOffset],
      'Catalog upload URL validity': [uploadValidMs / 60_000],
      '`page_size` maximum': [defaultQuirks.maxPageSize],
      'Receipt lines per call': [body('POST /wholesaler/{id}/receipts/')?.properties?.receipt_lines?.maxItems ?? 0],
      'Receipt field lengths': [
        ...lengths.map((name) => lengthOf(line[name])),
        Math.max(...quantities),
        Math.max(...decimals) + 1,
      ],
      wholesaler_reference_number: [lengthOf(reference?.wholesaler_reference_number)],
      verification_salt: [shortest(salt), lengthOf(salt)],
      'Catalog file size': [1, maxCatalogBytes, maxCatalogBytes / 1024 ** 2],
      'Catalog errors delivered in full': [maxErrors],
    },
    columnProblems: ({ name, type, need, example }: Column) => {
      const found = facts.get(name);
      if (!found || !(expectedColumns as readonly string[]).includes(name)) return [`a catalog has no column ${name}`];
      if (!/^(?:string|decimal)$/.test(type)) return [`a catalog's column is no ${type}`];
      const isRequired = need.startsWith('yes');
      const problems = example
        .filter((one) => !(productTypes as readonly string[]).includes(one))
        .map((one) => `${name} is never ${one}`);
      if (isRequired !== found.absent > 0)
        problems.push(`the column ${name} is ${isRequired ? 'optional' : 'required'}`);
      if (need.includes('non-blank') && found.blank === 0) problems.push(`${name} may be blank`);
      if (need === 'one of these two at least' && withoutPrices === 0) problems.push('a row needs no price');
      if (type === 'decimal' && found.word === 0) problems.push(`${name} may be a word`);
      if (type === 'string' && name !== 'product_type' && found.word > 0) problems.push(`${name} may not be a word`);
      return problems;
    },
  };
};
