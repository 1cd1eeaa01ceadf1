// An online prescription with the practice API, against a running sandbox:
//
//     npx vetledger sandbox --port 8090
//     node sandbox/examples/prescription.ts http://127.0.0.1:8090
//
// A veterinarian's service writes a prescription, tells how it fares at the prescription centre, and collects the prescription fee by a counter
// sale.
const baseUrl = process.argv[2] ?? 'http://127.0.0.1:8090';
const token = process.env.PRACTICE_TOKEN ?? 'sandbox-token';
const api = `${baseUrl}/${process.argv[3] ?? '4711'}/api/0.1`;

const say = (text: string): void => console.log(text);

/** Calls the API and expects success; the answer's JSON. */
const call = async <T>(url: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> => {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
};

interface Page<T> {
  results: T[];
}
interface Prescription {
  url: string;
  status: number;
  items: string[];
  invoice: string | null;
  is_payment: boolean;
}
interface Sale {
  id: number;
  url: string;
  invoice_prefix: string;
  total_with_vat: number;
  due_sum: number;
}

const users = await call<Page<{ id: number; first_name: string; last_name: string; is_veterinarian: boolean }>>(
  `${api}/user/`,
);
const prescriber = users.results.find((user) => user.is_veterinarian);
const patients = await call<Page<{ id: number; name: string; client: string }>>(
  `${api}/patient/?archived__is=false&deceased__is_null=true&page_size=1`,
);
const [patient] = patients.results;
if (!prescriber || !patient) throw new Error('The clinic has no veterinarian or no patient.');

const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10);
const prescription = await call<Prescription>(`${api}/eprescription/prescription/`, {
  client_id: Number(patient.client.split('/').at(-2)),
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
say(
  `prescription for ${patient.name} by ${prescriber.first_name} ${prescriber.last_name}: status ${prescription.status}`,
);
const item = await call<{ name: string; repeat_number: number }>(prescription.items[0] ?? '');
say(`item: ${item.name}, dispensed ${item.repeat_number} time`);

for (const status of [2, 3, 4]) {
  const changed = await call<Prescription>(prescription.url, { status }, 'PATCH');
  say(`status ${changed.status}`);
}

const settings = await call<{ prescription_fee_item: string | null }>(`${api}/department/11/settings/`);
const draft = await call<Sale>(`${api}/countersale/`, { department: `${api}/department/11/`, client: patient.client });
await call(`${api}/countersale/${draft.id}/items/`, { item: settings.prescription_fee_item, quantity: 1 });
const sale = await call<Sale>(`${api}/countersale/${draft.id}/finalize/`, {});
say(`the fee's counter sale: ${sale.invoice_prefix}, ${sale.total_with_vat}`);
await call(`${api}/invoicepayment/`, {
  invoice: sale.url,
  payment_type: 0,
  paid: sale.due_sum,
  date_added: new Date().toISOString(),
});
const paid = await call<Prescription>(prescription.url);
say(`the prescription names its sale: ${paid.invoice === sale.url}, paid: ${paid.is_payment}`);
