// Fixtures: records that a test adds with one JSON document, such as a client with an open invoice of 120.00.
import { z } from 'zod';
import type { Clinic } from './clinic.ts';
import { givenName } from './given.ts';
import { acceptedPaymentTypes, customerTypes, inWords } from './http/codes.ts';
import type { RowInput } from './inputs.ts';
import { dec, fixed, rowAmount } from './money.ts';
import { addClient, addPatient, countryName } from './people.ts';
import { NotFound, ValidationProblem } from './records.ts';
import { isDate } from './zone.ts';

/** A name for a record in the document. Other records refer to it by this name, and the answer gives its id. */
const ref = givenName();
/** Refers to a record of the document by its name, or to a record of the clinic by its id. */
const target = z.union([ref, z.int().min(1)]);
const text = z.string().max(1000);
const amount = z.string().regex(/^-?\d{1,12}(\.\d{1,4})?$/, 'Send a decimal as text, such as "120.00".');
const date = z.string().refine(isDate, 'Send a date as YYYY-MM-DD.');
/** A number that must be one of the codes. */
const oneOf = (meanings: object) =>
  z.literal(Object.keys(meanings).map(Number)).meta({ description: inWords({ ...meanings }) });
const paymentType = oneOf(acceptedPaymentTypes);

const client = z.strictObject({
  ref: ref.optional(),
  firstname: text.default(''),
  lastname: text.default(''),
  organization_name: text.default(''),
  email: text.default(''),
  country: z
    .string()
    .refine((code) => countryName(code) !== undefined, 'Send an ISO 3166-1 alpha-2 code.')
    .default('FI'),
  customer_type: oneOf(customerTypes).default(0),
  no_sms: z.boolean().default(false),
  no_email: z.boolean().default(false),
});
const patient = z.strictObject({
  ref: ref.optional(),
  client: target,
  name: text.min(1),
  species: z.union([text.min(1), z.int().min(1)]).meta({ description: 'Its name, such as "Cat", or its code.' }),
});
const row = z.strictObject({
  name: text.default('Service'),
  total_with_vat: amount,
  vat_percentage: amount.default('25.50'),
  account_number: text.default('3000'),
  quantity: amount.default('1.00'),
});
const payment = z.strictObject({ payment_type: paymentType.default(0), paid: amount.optional() });
const invoice = z.strictObject({
  ref: ref.optional(),
  client: target.nullable().default(null),
  department: z.int().optional(),
  status: z.literal([0, 3]).default(3).meta({ description: '0 Draft or 3 Finalized.' }),
  invoice_date: date.optional(),
  countersale: z.boolean().default(false),
  rows: z.array(row).min(1).max(200),
  payments: z.array(payment).max(50).default([]),
});
const prepayment = z.strictObject({
  ref: ref.optional(),
  client: target,
  department: z.int().optional(),
  payment_type: paymentType.default(0),
  paid: amount,
  description: text.default(''),
});

export const fixturesSchema = z.strictObject({
  clients: z.array(client).max(1000).default([]),
  patients: z.array(patient).max(1000).default([]),
  invoices: z.array(invoice).max(1000).default([]),
  prepayments: z.array(prepayment).max(1000).default([]),
});

export type Fixtures = z.output<typeof fixturesSchema>;

/** The ids and addresses of the added records, by `ref`, or by the index in their list. */
type Added = Record<keyof Fixtures, Record<string, { id: number; url: string }>>;

/**
 * Adds the records. `api` is the address of the API. Throws a ValidationProblem that names the wrong record; the
 * records before it stay added.
 */
export const applyFixtures = (clinic: Clinic, fixtures: Fixtures, api: string): Added => {
  const added: Added = { clients: {}, patients: {}, invoices: {}, prepayments: {} };
  const clientOf = (wanted: string | number): number => {
    const id = typeof wanted === 'number' ? wanted : added.clients[wanted]?.id;
    if (id === undefined) throw new ValidationProblem('client', `No client of "clients" has the ref "${wanted}".`);
    return id;
  };
  const addAll = <K extends keyof Fixtures>(kind: K, resource: string, add: (one: Fixtures[K][number]) => number) => {
    for (const [at, one] of fixtures[kind].entries()) {
      const name = one.ref ?? String(at);
      if (Object.hasOwn(added[kind], name)) throw new ValidationProblem(kind, `Two records have the ref "${name}".`);
      const id = naming(`${kind}[${at}]`, () => add(one));
      (added[kind] as Record<string, { id: number; url: string }>)[name] = { id, url: `${api}/${resource}/${id}/` };
    }
  };
  clinic.commit(() => {
    addAll('clients', 'client', ({ ref, ...fields }) => addClient(clinic, fields).id);
    addAll('patients', 'patient', ({ ref, client, species, ...rest }) => {
      const fields = { ...rest, client: clientOf(client), species_code: speciesCode(clinic, species) };
      return addPatient(clinic, fields).id;
    });
    addAll('invoices', 'invoice', (one) => addInvoice(clinic, one, one.client === null ? null : clientOf(one.client)));
    addAll('prepayments', 'unallocatedpayment', ({ ref, client, department, ...rest }) => {
      const place = department === undefined ? {} : { department };
      return clinic.takePrepayment({ ...rest, ...place, client: clientOf(client) }).id;
    });
  }, 'request');
  return added;
};

const speciesCode = (clinic: Clinic, wanted: string | number): number => {
  const known = clinic.people.species.all().find(({ id, label }) => id === wanted || label === wanted);
  if (!known) throw new ValidationProblem('species', `The code list has no species ${JSON.stringify(wanted)}.`);
  return known.id;
};

/** Runs `act`, and adds the record's name to a refusal. */
const naming = <T>(record: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    if (error instanceof NotFound) throw new ValidationProblem(record, 'A record that it names does not exist.');
    if (error instanceof ValidationProblem) throw new ValidationProblem(record, error.message);
    throw error;
  }
};

const addInvoice = (clinic: Clinic, input: Fixtures['invoices'][number], client: number | null): number => {
  const { ref, department, invoice_date, payments, rows, ...fields } = input;
  const { id } = clinic.createInvoice({
    ...fields,
    client,
    rows: rows.map(rowOf),
    ...(department === undefined ? {} : { department }),
    ...(invoice_date === undefined ? {} : { invoice_date }),
  });
  for (const { payment_type, paid } of payments)
    clinic.pay(id, { payment_type, ...(paid === undefined ? {} : { paid }) });
  return id;
};

/** Computes net and VAT of a row from its gross amount. VAT is rounded half-even to cents. */
const rowOf = ({ total_with_vat, vat_percentage, ...rest }: z.output<typeof row>): RowInput => {
  const gross = dec(total_with_vat);
  const sum_vat = fixed(gross.minus(gross.div(dec(vat_percentage).div(100).plus(1))), 2);
  const sum = rowAmount(gross.minus(sum_vat));
  return { ...rest, vat_percentage, sum, sum_vat, sum_total: rowAmount(gross) };
};
