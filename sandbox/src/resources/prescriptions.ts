// practice-api: Online prescription; Endpoints: Online prescriptions.
// Choices of the sandbox: a prescription has 1 to 100 `prescription_items`; an empty array is refused. Each
// `prescriber_id` is the id of a veterinarian. PATCH refuses all fields but `status` and `remarks`. Answers have null
// for the fields that only the national prescription centre fills in (product, article, licence, pharmacy, dispensing
// …). `patients` of a prescription are those of its items. `payment_details` has the sale of the fee and its amount, or
// null before the sale.
import { z } from 'zod';
import { code, codeInput, prescriptionStatuses } from '../http/codes.ts';
import { answer, date, integer, optionalText, text, time, timestamp, url } from '../http/fields.ts';
import { type ApiRequest, instant, pathId, type RouteSpec, route } from '../http/route.ts';
import { changePrescription, createPrescription, itemsOf, prescriptionOf } from '../online/prescriptions.ts';
import { userOf } from '../people.ts';
import { NotFound } from '../records.ts';
import type { Prescription, PrescriptionItem } from '../state/online.ts';
import type { WireRecord } from '../wire.ts';

const section = 'Online prescriptions';
const permission = 'General: E-prescriptions';
const base = { section, permission } as const;
const one = 'eprescription/prescription/:id/';

const record = answer({
  url: url(),
  consultation: url().nullable(),
  prescriber: url(),
  department: url(),
  created: time(),
  modified: time(),
  status: code(prescriptionStatuses),
  client: url(),
  pharmacy_id: z.null(),
  archived: z.boolean(),
  patients: z.array(url()),
  items: z.array(url()),
  uuid: z.uuid(),
  prescription_set_uuid: z.uuid(),
  invoice: url().nullable(),
  remarks: z.string(),
  created_user: url().nullable(),
  modified_user: url().nullable(),
  modified_session: z.null(),
  issue_time: time(),
  is_order: z.boolean(),
  is_payment: z.boolean(),
  prescription_order: z.null(),
  payment_details: answer({ invoice: url(), total_with_vat: z.string(), paid: z.boolean() }).nullable(),
});

const itemRecord = answer({
  url: url(),
  name: z.string(),
  package_size: z.null(),
  product_id: z.null(),
  product_nplid: z.null(),
  article_id: z.null(),
  article_nplpackid: z.null(),
  row_id: z.uuid(),
  license_id: z.null(),
  pharmacy_id: z.null(),
  prescription: url(),
  created: time(),
  modified: time(),
  valid_until: z.string(),
  indication: z.null(),
  dosage_form: z.null(),
  strength: z.string(),
  quantity: z.null(),
  unit_description: z.null(),
  package_content: z.null(),
  quantity_packages: z.int(),
  patients: z.array(url()),
  prescribed_medicine: z.null(),
  latest_dispensing: z.null(),
  instructions: z.string(),
  language: z.string(),
  repeat_number: z.int(),
  repeat_timevalue: z.null(),
  repeat_timeunit: z.null(),
  patient_identification: z.string().nullable(),
  patient_id_qualifier: z.string().nullable(),
  patient_species: z.string(),
  supplimentary_information: z.null(),
  created_user: url().nullable(),
  modified_user: url().nullable(),
  copied_from: z.null(),
});

const pk = () => integer({ min: 1 });

const itemBody = z.object({
  name: text(500),
  patients: z.array(pk(), 'This field is required.').min(1, 'This list may not be empty.').max(100),
  strength: text(200),
  instructions: text(2000),
  quantity_packages: integer({ min: 1, max: 10_000 }),
  valid_until: date(),
  repeat_number: integer({ min: 1, max: 100 }).prefault(1),
});

const createBody = z.object({
  client_id: pk(),
  department_id: pk(),
  prescriber_id: pk(),
  issue_time: timestamp(),
  status: codeInput(prescriptionStatuses).prefault(1),
  consultation_id: pk().nullish(),
  remarks: optionalText(5000).default(''),
  prescription_items: z.array(itemBody, 'This field is required.').min(1, 'This list may not be empty.').max(100),
});

const wired = ({ clinic, wire }: ApiRequest, prescription: Prescription): WireRecord => {
  const items = itemsOf(clinic, prescription);
  const patients = [...new Set(items.flatMap((item) => item.patients))];
  const sale = prescription.invoice === null ? undefined : clinic.invoices.get(prescription.invoice);
  const invoice = wire.ref('invoice', prescription.invoice);
  return {
    url: wire.ref('eprescription/prescription', prescription.id),
    consultation: wire.ref('consultation', prescription.consultation),
    prescriber: wire.ref('user', prescription.prescriber),
    department: wire.ref('department', prescription.department),
    created: wire.time(prescription.created),
    modified: wire.time(prescription.modified),
    status: prescription.status,
    client: wire.ref('client', prescription.client),
    pharmacy_id: null,
    archived: prescription.archived,
    patients: patients.map((patient) => wire.ref('patient', patient)),
    items: items.map((item) => wire.ref('eprescription/prescription_item', item.id)),
    uuid: prescription.uuid,
    prescription_set_uuid: prescription.prescription_set_uuid,
    invoice,
    remarks: prescription.remarks,
    created_user: wire.ref('user', prescription.created_user),
    modified_user: wire.ref('user', prescription.modified_user),
    modified_session: null,
    issue_time: wire.time(prescription.issue_time ?? prescription.created),
    is_order: false,
    is_payment: sale !== undefined && sale.date_paid !== null,
    prescription_order: null,
    payment_details: sale ? { invoice, total_with_vat: sale.total_with_vat, paid: sale.date_paid !== null } : null,
  };
};

const wiredItem = ({ clinic, wire }: ApiRequest, item: PrescriptionItem): WireRecord => {
  const first = clinic.registers.patients.get(item.patients[0] ?? 0);
  return {
    url: wire.ref('eprescription/prescription_item', item.id),
    name: item.name,
    package_size: null,
    product_id: null,
    product_nplid: null,
    article_id: null,
    article_nplpackid: null,
    row_id: item.row_id,
    license_id: null,
    pharmacy_id: null,
    prescription: wire.ref('eprescription/prescription', item.prescription),
    created: wire.time(item.created),
    modified: wire.time(item.modified),
    valid_until: item.valid_until,
    indication: null,
    dosage_form: null,
    strength: item.strength,
    quantity: null,
    unit_description: null,
    package_content: null,
    quantity_packages: item.quantity_packages,
    patients: item.patients.map((patient) => wire.ref('patient', patient)),
    prescribed_medicine: null,
    latest_dispensing: null,
    instructions: item.instructions,
    language: 'en',
    repeat_number: item.repeat_number,
    repeat_timevalue: null,
    repeat_timeunit: null,
    patient_identification: first?.microchip ?? null,
    patient_id_qualifier: first?.microchip ? 'microchip' : null,
    patient_species: clinic.people.species.get(first?.species_code ?? 0)?.label ?? '',
    supplimentary_information: null,
    created_user: wire.ref('user', item.created_user),
    modified_user: wire.ref('user', item.created_user),
    copied_from: null,
  };
};

export const prescriptionRoutes: RouteSpec[] = [
  route({
    ...{ method: 'POST', path: 'eprescription/prescription/', action: 'prescription.create', ...base },
    summary: 'Write an online prescription',
    body: createBody,
    answers: { 201: record },
    handle: (request) => {
      const { application, body, clinic } = request;
      const { client_id: client, department_id: department, prescriber_id: prescriber, status, remarks } = body;
      const issue_time = instant(request, body.issue_time, 'issue_time');
      const items = body.prescription_items;
      const consultation = body.consultation_id ?? null;
      const user = userOf(clinic, application).id;
      const fields = { client, department, prescriber, consultation, issue_time, status, remarks, items, user };
      return { status: 201, body: wired(request, createPrescription(clinic, fields)) };
    },
  }),
  route({
    ...{ method: 'GET', path: one, action: 'prescription.retrieve', ...base },
    summary: 'One online prescription',
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: wired(request, prescriptionOf(request.clinic, pathId(request))) }),
  }),
  route({
    ...{ method: 'PATCH', path: one, action: 'prescription.partial_update', ...base },
    summary: 'Change the status and the remarks, nothing else',
    body: z.strictObject(
      { status: codeInput(prescriptionStatuses).optional(), remarks: optionalText(5000).optional() },
      {
        error: (issue) => (issue.code === 'unrecognized_keys' ? 'Only status and remarks may be changed.' : undefined),
      },
    ),
    answers: { 200: record },
    handle: (request) => {
      const { application, body, clinic } = request;
      const prescription = prescriptionOf(clinic, pathId(request));
      changePrescription(clinic, prescription, body, userOf(clinic, application).id);
      return { status: 200, body: wired(request, prescription) };
    },
  }),
  route({
    ...{ method: 'GET', path: 'eprescription/prescription_item/:id/', action: 'prescription_item.retrieve', ...base },
    summary: 'One item of an online prescription',
    answers: { 200: itemRecord },
    handle: (request) => {
      const item = request.clinic.online.prescriptionItems.get(pathId(request));
      if (!item) throw new NotFound();
      return { status: 200, body: wiredItem(request, item) };
    },
  }),
];
