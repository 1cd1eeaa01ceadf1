import { describe, expect, test } from 'vitest';
import { readCatalog } from '../src/supply/catalog-csv.ts';

const header = 'product_type,product_number,product_name,wholesale_price,product_price,vat';
const row = 'Medicine,AB-1,Amoxin 50 mg,10.50,19.90,10';
const read = (text: string | Uint8Array, chunk = 7) => {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  };
  return readCatalog(chunks());
};
/** The row, code and field of each error in a file. */
const problems = async (text: string | Uint8Array) =>
  (await read(text)).errors.kept.map(({ row, code, field }) => [row, code, field]);
const product = {
  ...{ product_type: 'Medicine', product_number: 'AB-1', product_name: 'Amoxin 50 mg' },
  ...{ wholesale_price: '10.50', product_price: '19.90', vat: '10', unit: null, barcode: null, currency: null },
  ...{ total_dosable_units: null, active_ingredient: null, route_of_administration: null, strength: null },
  controlled_substance: false,
};

describe('practice-api "Catalog CSV"', () => {
  test.each([
    ['a plain file', `${header}\n${row}\n`],
    ['a byte-order mark and CRLF', `\uFEFF${header}\r\n${row}\r\n`],
    ['no line end at the end, empty lines between', `${header}\n\n${row}`],
    [
      'values and column names with spaces',
      ` product_type , Product_Number,product_name ,wholesale_price,product_price,vat\n Medicine , AB-1 , Amoxin 50 mg ,10.50 , 19.90, 10 \n`,
    ],
    ['quoted values', `${header}\n"Medicine"," AB-1","Amoxin 50 mg", "10.50","19.90",10\n`],
    [
      'columns in another order, with an unknown one',
      `vat,x,product_price,wholesale_price,product_name,product_number,product_type\n10,?,19.90,10.50,Amoxin 50 mg,AB-1,medicine\n`,
    ],
  ])('%s', async (_, text) => {
    expect(await read(text)).toMatchObject({
      status: 'accepted',
      rows_total: 1,
      rows_accepted: 1,
      products: [product],
    });
  });

  test('optional columns, and total dosable units from packages', async () => {
    const optional =
      'unit,barcode,currency,total_dosable_units,dosable_units_per_package,packages_per_wholesale_unit,active_ingredient,route_of_administration,strength,controlled_substance';
    const text = [
      `${header},${optional}`,
      `Medicine,1,A,1,,,package,6400001,EUR,,10,2.5,amoxicillin,PO,50 mg,yes`,
      `Medicine,2,B,1,,,,,,0,10,,,,,false`,
      `Medicine,3,C,1,,,,,,-4,,3,,,,`,
      `Medicine,4,D,,2,,,,,7,10,3,,,,`,
    ].join('\n');
    const { products } = await read(text);
    expect(products[0]).toMatchObject({
      ...{ unit: 'package', barcode: '6400001', currency: 'EUR', total_dosable_units: '25', vat: null },
      ...{ active_ingredient: 'amoxicillin', route_of_administration: 'PO', strength: '50 mg' },
      controlled_substance: true,
    });
    expect(products.map(({ total_dosable_units }) => total_dosable_units)).toEqual(['25', '10', null, '7']);
  });

  test('a quoted value may have line breaks and quotes; rows are named by the line where they begin', async () => {
    const text = `${header}\nFood,1,"two\nlines ""x""",1,,\nFood,2,"two\nlines",,,\nFood,3,,1,,\n`;
    const { products } = await read(text);
    expect(products.map(({ product_name }) => product_name)).toEqual(['two\nlines "x"']);
    expect(await problems(text)).toEqual([
      [4, 'missing_required_field', 'wholesale_price'],
      [6, 'missing_required_field', 'product_name'],
    ]);
  });

  test('of several rows with one type and number the last counts', async () => {
    const { products, rows_accepted } = await read(`${header}\nFood,1,Old,1,,\nSupply,1,Other,1,,\nFood,1,New,1,,\n`);
    expect([rows_accepted, products.map((one) => one.product_name)]).toEqual([3, ['New', 'Other']]);
  });
});

describe('practice-api "Errors": catalog error kinds', () => {
  test.each<[string, string | Uint8Array, unknown[]]>([
    [
      'bytes that are no UTF-8',
      Buffer.from(`${header}\n${row.replace('i', 'ä')}`, 'latin1'),
      [null, 'invalid_file', null],
    ],
    ['a quote that never ends', `${header}\n${row}\nFood,"1,x,1,,\n`, [null, 'invalid_file', null]],
    ['only empty lines', '\n\n', [null, 'missing_header', null]],
    ['rows without a header', `${row}\n${row}`, [null, 'missing_header', null]],
    ['another separator', header.replaceAll(',', ';'), [null, 'missing_header', null]],
    ['only a header', `${header}\n`, [null, 'no_rows', null]],
    [
      'a required column absent',
      'product_type,product_number,vat,product_price\nFood,1,1,1',
      [null, 'missing_column', 'product_name'],
    ],
    [
      'no price column',
      'product_type,product_number,product_name\nFood,1,x',
      [null, 'missing_column', 'wholesale_price'],
    ],
  ])('%s: the whole file is rejected', async (_, text, problem) => {
    const outcome = await read(text);
    expect([outcome.status, outcome.products, outcome.rows_accepted]).toEqual(['rejected', [], 0]);
    expect(await problems(text)).toEqual([problem]);
  });

  test.each([
    [',1,x,1,,', 'missing_required_field', 'product_type'],
    ['Food, ,x,1,,', 'missing_required_field', 'product_number'],
    ['Food,1,"",1,,', 'missing_required_field', 'product_name'],
    ['Food,1,x,,,10', 'missing_required_field', 'wholesale_price'],
    ['Toy,1,x,1,,', 'invalid_value', 'product_type'],
    ['Food,1,x,"12,50",,', 'invalid_value', 'wholesale_price'],
    ['Food,1,x,,"12,50",', 'invalid_value', 'product_price'],
    ['Food,1,x,12,50,10,', 'ok', null],
    ['Food,1,x,12,50,13,50,10', 'invalid_value', null],
    ['Food,1,x,-1,,', 'invalid_value', 'wholesale_price'],
    ['Food,1,x,1e3,,', 'invalid_value', 'wholesale_price'],
    ['Food,1,x,1 000,,', 'invalid_value', 'wholesale_price'],
    ['Food,1,x,.5,,', 'invalid_value', 'wholesale_price'],
    ['Food,1,x,1,,101', 'invalid_value', 'vat'],
    ['Food,1,x,1,,"25,5"', 'invalid_value', 'vat'],
    ['Food,1,x,1,,10 %', 'invalid_value', 'vat'],
    [`Food,${'1'.repeat(64)},x,1,,`, 'invalid_value', 'product_number'],
    [`Food,1,${'x'.repeat(256)},1,,`, 'invalid_value', 'product_name'],
  ])('row %s: %s %s', async (bad, code, field) => {
    const text = `${header}\n${row}\n${bad}\n`;
    if (code === 'ok') {
      expect(await problems(text)).toEqual([]);
      return;
    }
    const outcome = await read(text);
    expect([outcome.status, outcome.rows_total, outcome.rows_accepted, outcome.rows_rejected]).toEqual([
      'partially_accepted',
      2,
      1,
      1,
    ]);
    expect(outcome.products).toEqual([product]);
    expect(await problems(text)).toEqual([[3, code, field]]);
  });

  test('every row failed: rejected; a row has an entry for each of its problems', async () => {
    const outcome = await read(`${header}\n,,x,1,,\nToy,1,x,,,\n`);
    expect([outcome.status, outcome.rows_rejected]).toEqual(['rejected', 2]);
    expect(outcome.errors.kept.map(({ row, field }) => [row, field])).toEqual([
      [2, 'product_type'],
      [2, 'product_number'],
      [3, 'product_type'],
      [3, 'wholesale_price'],
    ]);
  });

  test.each([
    [100, false],
    [101, true],
  ])('%i errors: truncated is %s; counts per code and the report are exact', async (count, isTooMany) => {
    const bad = Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 'Food,,x,1,,' : 'Food,1,"a ""b""","1,5",,'));
    const { errors } = await read(`${header}\n${row}\n${bad.join('\n')}\n`);
    expect([errors.isTooMany, errors.kept.length]).toEqual([isTooMany, count]);
    expect(errors.summary()).toEqual([
      { code: 'missing_required_field', count: Math.ceil(count / 2) },
      { code: 'invalid_value', count: Math.floor(count / 2) },
    ]);
    const report = errors.report().trimEnd().split('\n');
    expect(report.slice(0, 2)).toEqual([
      'row,code,field,detail',
      '3,missing_required_field,product_number,"product_number must not be empty."',
    ]);
    expect(report).toHaveLength(count + 1);
  });
});
