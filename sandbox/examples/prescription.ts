// An online prescription with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     npm run client --workspace sandbox      # writes client.ts from the OpenAPI description
//     node sandbox/examples/prescription.ts http://127.0.0.1:8090
//
// A veterinarian's service writes a prescription, reports its status at the prescription centre, and collects the prescription fee by a counter
// sale.
import { Api } from './client.ts';

const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const practice = new Api({
  baseUrl: `${baseUrl}/4711/api/0.1`,
  baseApiParams: { headers: { authorization: 'Bearer sandbox-token' } },
  customFetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(30_000) }),
});

const say = (text: string): void => console.log(text);
/** The id in a reference such as `…/client/2001/`. */
const idOf = (reference: string): number => Number(reference.split('/').at(-2));

const users = await practice.user.userList();
const prescriber = users.results.find((user) => user.is_veterinarian);
const patients = await practice.patient.patientList({ archived__is: 'false', deceased__is_null: 'true', page_size: 1 });
const [patient] = patients.results;
if (!prescriber || !patient) throw new Error('The clinic has no veterinarian or no patient.');

const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
const prescription = await practice.eprescription.prescriptionCreate({
  client_id: idOf(patient.client),
  department_id: 11,
  prescriber_id: prescriber.id,
  issue_time: new Date().toISOString(),
  remarks: 'Control in two weeks',
  prescription_items: [
    {
      name: 'Kivuton 50 mg',
      patients: [patient.id],
      strength: '50 mg',
      instructions: 'One tablet a day with food',
      quantity_packages: 1,
      valid_until: inAYear,
    },
  ],
});
const { first_name, last_name } = prescriber;
say(`prescription for ${patient.name} by ${first_name} ${last_name}: status ${prescription.status}`);
const item = await practice.eprescription.prescriptionItemRetrieve(idOf(prescription.items[0] ?? ''));
say(`item: ${item.name}, dispensed ${item.repeat_number} time`);

const id = idOf(prescription.url);
for (const status of [2, 3, 4] as const) {
  const changed = await practice.eprescription.prescriptionPartialUpdate(id, { status });
  say(`status ${changed.status}`);
}

const { prescription_fee_item: fee } = await practice.department.departmentSettings(11);
if (fee === null) throw new Error('The department has no prescription fee.');
const draft = await practice.countersale.countersaleCreate({
  department: prescription.department,
  client: patient.client,
});
await practice.countersale.countersaleAddItem(draft.id, { item: fee, quantity: 1 });
const sale = await practice.countersale.countersaleFinalize(draft.id);
say(`the fee's counter sale: ${sale.invoice_prefix}, ${sale.total_with_vat}`);
await practice.invoicepayment.invoicepaymentCreate({
  invoice: sale.url,
  payment_type: 0,
  paid: sale.due_sum,
  date_added: new Date().toISOString(),
});
const paid = await practice.eprescription.prescriptionRetrieve(id);
say(`the prescription names its sale: ${paid.invoice === sale.url}, paid: ${paid.is_payment}`);
