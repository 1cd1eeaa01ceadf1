// Operations that may refuse requests that match the description, with the reason: the clinic's records, or a rule that
// JSON Schema cannot express. For them the fuzzer accepts 400 as the answer to valid data. All other checks stay, and
// 400 is an error for all other operations.
const locked = 'the date can lie in a locked period';
const consultation = 'the consultation can be finalized, and a patient or an item be of another one or kind';
const patients = 'a patient can belong to another client, and a value not fit its custom field or gender its species';
const credit = 'the invoice can be a draft, its rows credited already or of another invoice, and its date locked';
const callback = 'the host must be public';

export const refusals: Record<string, string> = {
  'POST /appointment/': 'the end can lie before the start, and a patient belong to another client',
  'POST /appointment/{id}/send_appointment_confirmation/': 'the hash must be that of the appointment',
  'POST /appointment_reminder/': 'the time can be past, or after the appointment',
  'POST /onlinebookingclient/': 'the appointment can be of another type, or have a client already',
  'POST /available_wholesaler/': callback,
  'PATCH /available_wholesaler/{id}/': callback,
  'POST /client/': 'a client needs one of three names, and a value must fit its custom field',
  'PATCH /client/{id}/': 'a client needs one of three names, and a value must fit its custom field',
  'POST /client/{id}/custom_field_values/': 'a value must fit its custom field, which can be one of patients',
  'POST /patient/{id}/custom_field_values/': 'a value must fit its custom field, which can be one of clients',
  'POST /patient/': patients,
  'PATCH /patient/{id}/': patients,
  'POST /patient/bulk/':
    'patients that create would refuse are refused by themselves, and 400 is the answer where all are',
  'POST /consultation/':
    'a patient can belong to another client, the end lie before the start, and preferences be missing',
  'POST /consultation/{id}/consultationdiagnosis/': consultation,
  'POST /consultation/{id}/consultationdischargeinstruction/': consultation,
  'POST /consultation/{id}/consultationnote/': consultation,
  'POST /consultation/{id}/foods/': consultation,
  'POST /consultation/{id}/medicines/': consultation,
  'POST /consultation/{id}/procedures/': consultation,
  'POST /consultation/{id}/supplies/': consultation,
  'POST /consultation/{id}/update_status/': 'few moves between statuses are possible',
  'POST /countersale/{id}/finalize/': 'the sale can be finalized already, or have no items',
  'POST /countersale/{id}/items/':
    'the sale can be finalized already, and the item not be for the counter or its VAT unknown',
  'POST /eprescription/prescription/':
    'patients and consultation can be of another client, and validity end in the past',
  'PATCH /invoice/{id}/': 'a finalized invoice keeps its date',
  'POST /invoice/{id}/full_refund/': credit,
  'POST /invoice/{id}/partial_refund/': credit,
  'POST /invoicepayment/': `the invoice can be a draft, and the sign not be its own; ${locked}`,
  'POST /invoicepayment/{id}/cancel_payment/': `it can be cancelled already; ${locked}`,
  'POST /order/{order_id}/mark_delivered/': 'the order is delivered by the first call',
  'POST /postransaction/': 'the amount can exceed what is due, the department forbid links, and the URL name no host',
  'PATCH /settings/department/{id}/': 'the lock date cannot be written while locking is automatic',
  'POST /unallocatedpayment/': `a refund needs its prepayment's client, department and unused amount; ${locked}`,
};
