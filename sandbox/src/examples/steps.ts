// The example requests of the OpenAPI description: events of a spring day in the clinic of seed 1. A later request can
// use the answers of earlier requests through `answered`.

/** Returns the recorded answer to the request of an action. */
// biome-ignore lint/suspicious/noExplicitAny: an answer has the fields that its schema says.
export type Answered = (action: string) => any;

export interface Step {
  /** The action of an endpoint; for staff, a method and a path under `/sandbox/`. */
  action: string;
  request: (answered: Answered) => {
    /** The ids in the path, in order. */
    ids?: readonly number[];
    query?: string;
    body?: unknown;
  };
}

/** The time and the address at which the requests are sent. */
export const day = { startsAt: '2026-05-20T12:00:00', origin: 'http://127.0.0.1:8090', installation: 4711 };

const ref = (resource: string, id: number): string => `${day.origin}/${day.installation}/api/0.1/${resource}/${id}/`;
/** The id at the end of a url-reference. */
const idOf = (reference: string): number => Number(reference.split('/').at(-2));

const steps: Step[] = [];
/** Adds a request that needs no earlier answer. */
const ask = (action: string, ids: readonly number[] = [], body?: unknown) =>
  steps.push({ action, request: () => ({ ids, ...(body === undefined ? {} : { body }) }) });
/** Adds a request that uses earlier answers. */
const then = (action: string, request: Step['request']) => steps.push({ action, request });

const [client, patient, catId] = [2001, 20_001, 682];

// This step is the first one, because its request_hash is drawn from the seed.
ask('appointment.create', [], {
  ...{ start: '2026-06-01T09:00:00Z', end: '2026-06-01T09:30:00Z', department: ref('department', 11) },
  ...{ type: 2, reason: ref('reason', 1), title: 'Vaccination' },
});
then('appointment.retrieve', (answered) => ({ ids: [answered('appointment.create').id] }));
then('onlinebookingclient.create', (answered) => ({
  body: {
    appointment: answered('appointment.create').url,
    ...{ first_name: 'Minea', last_name: 'Harjula', email: 'minea.harjula@example.org', phone_number: '+358405551234' },
    ...{ street_address: 'Havukuja 3', zip_code: '01999', city: 'Kuusniemi' },
  },
}));
then('onlinebookingclient.retrieve', (answered) => ({ ids: [answered('onlinebookingclient.create').id] }));
then('onlinebookingpatient.create', (answered) => ({
  body: { onlinebookingclient: answered('onlinebookingclient.create').url, name: 'Halla', species: catId },
}));
then('onlinebookingpatient.retrieve', (answered) => ({ ids: [answered('onlinebookingpatient.create').id] }));
then('appointment.send_appointment_confirmation', (answered) => ({
  ids: [answered('onlinebookingpatient.create') && answered('appointment.create').id],
  body: { request_hash: answered('appointment.create').request_hash },
}));
then('appointment_reminder.create', (answered) => ({
  body: { appointment: answered('appointment.create').url, remind_at: '2026-05-31T09:00:00Z', delivery_method: 2 },
}));
then('appointment_reminder.retrieve', (answered) => ({ ids: [answered('appointment_reminder.create').id] }));

ask('client.create', [], { firstname: 'Anna', lastname: 'Kivi', email: 'anna.kivi@example.org', country: 'FI' });
ask('client.partial_update', [client], { no_sms: false, no_email: false });
ask('client.retrieve', [client]);
ask('phonenumber.create', [], { client: ref('client', client), phone_number: '+358401234567', type_code: 1 });
ask('phonenumber.retrieve', [4001]);
ask('client_custom_field_values.create', [client], { field_id: 502, value: [{ id: 1, name: 'A friend' }] });
ask('client_custom_field_values.list', [client]);
ask('patient_custom_field_values.create', [patient], { field_id: 504, value: '28' });
ask('patient_custom_field_values.list', [patient]);
ask('patient.create', [], {
  ...{ client: ref('client', client), name: 'Halla', species: catId, gender: 'Female', date_of_birth: '2024-05-01' },
});
ask('patient.partial_update', [patient], { weight: '4.250', critical_notes: 'Bites' });
ask('patient.retrieve', [patient]);
ask('patient.bulk', [], [{ client: ref('client', client), name: 'Rekku', species: catId }]);

const account = { number: '3000', description: 'Sales', department: ref('department', 11) };
const payer = {
  name: 'Havu Insurance',
  street_address: 'Havukuja 3',
  zip_code: '01999',
  city: 'Kuusniemi',
  country: 'FI',
};
const pricing = { name: 'Members', percentage: '-10.00' };
for (const [name, id, body, change] of [
  ['accountnumber', 101, account, { description: 'Sales of medicines' }],
  ['alternative_payer', 301, payer, { archived: true }],
  ['alternativepricing', 401, pricing, { percentage: '-15.00' }],
] as const) {
  ask(`${name}.create`, [], body);
  ask(`${name}.retrieve`, [id]);
  ask(`${name}.update`, [id], body);
  ask(`${name}.partial_update`, [id], change);
}
ask('accountingreport.retrieve', [801]);
ask('reason.retrieve', [1]);
ask('user.retrieve', [1]);
ask('department.retrieve', [11]);
ask('department.settings', [11]);
ask('settings.retrieve', [11]);

ask('consultation.create', [], {
  ...{ client: ref('client', 2002), patients: [ref('patient', 20_002)], complaint: 'Limps', type: 1 },
});
const visit = (answered: Answered) => {
  const { id, url } = answered('consultation.create');
  return {
    ids: [id],
    item: { consultation: url, patients: [ref('patient', 20_002)], quantity: '1', vat_percentage: '25.50' },
  };
};
for (const [kind, item, more] of [
  ['medicines', 6012, { usage_type: 2, usage_size: 1, instructions: 'Once a day with food' }],
  ['procedures', 6001, {}],
  ['supplies', 6014, { usage_type: 1, usage_size: 1 }],
  ['foods', 6017, {}],
] as const) {
  then(`consultation_${kind}.create`, (answered) => {
    const { ids, item: common } = visit(answered);
    return { ids, body: { ...common, item: ref('item', item), ...more } };
  });
  then(`consultation_${kind}.list`, (answered) => ({ ids: visit(answered).ids }));
}
for (const [name, body] of [
  ['consultationdiagnosis', { diagnosis: 826, code: 'F07', name: 'Chronic kidney disease', category: 0, type: 1 }],
  ['consultationnote', { text: 'Eats and drinks well.', type: 0 }],
  ['consultationdischargeinstruction', { text: 'Rest for a week.' }],
] as const) {
  then(`${name}.create`, (answered) => ({
    ids: visit(answered).ids,
    body: { patient: ref('patient', 20_002), ...body },
  }));
  then(`${name}.list`, (answered) => ({ ids: visit(answered).ids }));
}
then('consultation.update_status', (answered) => ({ ids: visit(answered).ids, body: { status: 8 } }));
then('consultation.retrieve', (answered) => ({ ids: visit(answered).ids }));

ask('countersale.create', [], { department: ref('department', 11), client: ref('client', client) });
then('countersale.add_item', (answered) => ({
  ids: [answered('countersale.create').id],
  body: { item: ref('item', 6022), quantity: '1' },
}));
then('countersale.finalize', (answered) => ({ ids: [idOf(answered('countersale.add_item').invoice)] }));

const [invoice, invoiceRow, closedInvoice] = [12_480, 56_065, 12_652];
ask('invoice.partial_update', [invoice], { invoice_due_date: '2026-06-30' });
ask('invoice.partial_refund', [invoice], { invoice_rows: [{ invoice_row: ref('invoicerow', invoiceRow) }] });
ask('invoice.full_refund', [closedInvoice], { use_original_invoice_date: false });
const now = '2026-05-20T09:00:00Z';
ask('invoicepayment.create', [], {
  ...{ invoice: ref('invoice', invoice), payment_type: 0, paid: '20.00', date_added: now },
});
ask('invoicepayment.cancel_payment', [33_062], { info: 'Paid twice', cancel_date: now });
ask('unallocatedpayment.create', [], {
  department: ref('department', 11),
  ...{ client: ref('client', client), payment_type: 0, paid: '50.00', description: 'Deposit' },
});
ask('unallocatedpayment.retrieve', [701]);
ask('unallocatedpayment.partial_update', [701], { external_info: { external_id: 'INV-2041' } });
ask('settings.partial_update', [11], { financial_period_lock_date: '2026-05-01' });

ask('postransaction.create', [], {
  ...{ amount: '10.00', terminal_id: 0, payment_type: 5003, transaction_type: 4 },
  ...{ department: ref('department', 11), invoice: ref('invoice', invoice) },
  payment_link_data: { duration: 60, delivery_method: 2, email: 'payer@example.org', invoice_id: invoice },
});
then('postransaction.retrieve', (answered) => ({ ids: [answered('postransaction.create').id] }));
then('invoice.postransactions.list', (answered) => ({ ids: [idOf(answered('postransaction.create').invoice)] }));

ask('prescription.create', [], {
  ...{ client_id: client, department_id: 11, prescriber_id: 1, issue_time: now, remarks: 'Control in two weeks' },
  prescription_items: [
    {
      ...{ name: 'Kivuton 50 mg', patients: [patient], strength: '50 mg', instructions: 'One tablet a day with food' },
      ...{ quantity_packages: 1, valid_until: '2027-05-20' },
    },
  ],
});
const prescription = (answered: Answered): number => idOf(answered('prescription.create').url);
then('prescription.retrieve', (answered) => ({ ids: [prescription(answered)] }));
then('prescription_item.retrieve', (answered) => ({ ids: [idOf(answered('prescription.create').items[0])] }));
then('prescription.partial_update', (answered) => ({ ids: [prescription(answered)], body: { status: 2 } }));

const callback = { webhook_callback_url: 'https://tukku.example/webhooks' };
ask('available_wholesaler.create', [], {
  ...{ name: 'Esimerkin Tukku', email: 'integration@tukku.example', register_number: '7654321-0' },
  ...{ ...callback, verification_salt: 'known-to-both-sides-only' },
});
const registration = (answered: Answered): number => answered('available_wholesaler.create').id;
then('available_wholesaler.retrieve', (answered) => ({ ids: [registration(answered)] }));
then('available_wholesaler.partial_update', (answered) => ({ ids: [registration(answered)], body: callback }));
then('POST wholesalers', (answered) => ({
  body: { available_wholesaler: registration(answered), customer_number: '40118', customer_password: 'secret' },
}));
const wholesaler = (answered: Answered): number => answered('POST wholesalers').id;
then('wholesaler.catalog_upload_url', (answered) => ({
  ids: [wholesaler(answered)],
  body: { filename: 'catalog.csv', content_type: 'text/csv' },
}));
then('POST orders', (answered) => ({
  body: { wholesaler: wholesaler(answered), lines: [{ product_number: 'AB-100', quantity: '4' }] },
}));
const order = (answered: Answered): number => answered('POST orders').id;
then('order.set_wholesaler_reference_number', (answered) => ({
  ids: [order(answered)],
  body: { wholesaler_reference_number: 'ET-6101' },
}));
then('order.mark_delivered', (answered) => ({ ids: [order(answered)] }));
then('wholesaler.receipts', (answered) => ({
  ids: [wholesaler(answered)],
  body: {
    receipt_lines: [
      { id: 'ET-6101-1', quantity: '4.000', product_number: 'AB-100', order_id: order(answered), batch_number: 'A17' },
    ],
  },
}));

// Only installations without PATCH of prepayments have external_info as a resource, so this step sets that quirk.
ask('POST quirks', [], { externalInfo: 'subresource' });
then('external_info.create', (answered) => {
  answered('POST quirks');
  return { ids: [702], body: { external_id: 'INV-2042' } };
});
then('external_info.list', (answered) => ({ ids: [answered('external_info.create') && 702] }));
then('external_info.partial_update', (answered) => ({
  ids: [702, answered('external_info.create').id],
  body: { external_id: 'INV-2043' },
}));

/** All steps in the order in which they are sent. */
export const exampleSteps: readonly Step[] = steps;
