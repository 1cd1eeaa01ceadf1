// A consultation: staff open it, work on it, add items and finalise it, which makes its invoice (practice-api:
// Consultation status; Invoice).
// Choices of the sandbox: patients belong to the client. If no patient has a home department, the consultation is in the
// clinic's first department. The invoice is final at once, or a draft that staff finalise (quirk
// `consultationInvoice`); a consultation without items has no invoice. The invoice is dated today, so the API refuses
// to finalise while today is in a locked period. Price and account of a row come from the catalogue, at the VAT
// percentage of the request, for which the clinic must have a VAT group. The row has the item's dimensions, or else the
// consultation's. The multiplier of a farm visit is the sum of the herds; a patient without a herd counts as one. No
// payment moves a consultation to status 9. Staff make a consultation ready for discharge; the API cannot.
import type { Clinic } from './clinic.ts';
import type { RowInput } from './inputs.ts';
import { type Amount, dec, fixed, sumOf } from './money.ts';
import { hasValidPreferences } from './people.ts';
import { chargeOf } from './pricing.ts';
import { type Client, type Invoice, invoiceStatus, NotFound, ValidationProblem } from './records.ts';
import { type Consultation, type ConsultationItem, consultationStatus, consultationTypes } from './state/care.ts';
import type { Patient } from './state/people.ts';
import type { CatalogueItem } from './state/registers.ts';

const { admitted, inProgress, readyForDischarge, finalized } = consultationStatus;

/** The status changes of practice-api "Consultation status". All others are refused. */
const moves: readonly (readonly [from: number, to: number])[] = [
  [admitted, inProgress],
  [inProgress, finalized],
  [readyForDischarge, finalized],
];

export interface ConsultationInput {
  client: number;
  patients: readonly number[];
  supervising_veterinarian: number;
  /** Epoch milliseconds; the default is now. */
  started?: number;
  finished?: number | null;
  complaint?: string;
  type?: number;
  /** The default is the first home department of a patient, or else the clinic's first department. */
  department?: number;
  reporting_dimension_1?: string | null;
  reporting_dimension_2?: string | null;
}

export interface ItemInput {
  item: number;
  quantity: Amount;
  vat_percentage: Amount;
  patients: readonly number[];
  usage_type?: number | null;
  usage_size?: number | null;
  instructions?: string;
}

export const consultationOf = (clinic: Clinic, id: number): Consultation => {
  const consultation = clinic.care.consultations.get(id);
  if (!consultation) throw new NotFound();
  return consultation;
};

/**
 * Admits patients of one client. Throws ValidationProblem if a reference does not exist or does not belong to the
 * client.
 */
export const openConsultation = (clinic: Clinic, input: ConsultationInput): Consultation =>
  clinic.commit(() => {
    const client = clientOf(clinic, input.client);
    const patients = input.patients.map((id) => patientOf(clinic, id, client));
    const department = departmentOf(clinic, input.department, patients);
    const started = input.started ?? clinic.clock();
    const finished = input.finished ?? null;
    if (finished !== null && finished < started) throw new ValidationProblem('finished', 'It is before the start.');
    if (!clinic.registers.users.get(input.supervising_veterinarian)) {
      throw new ValidationProblem('supervising_veterinarian', 'Invalid hyperlink - Object does not exist.');
    }
    if (clinic.department(department).enable_communication_preferences && !hasValidPreferences(client)) {
      throw new ValidationProblem('client', "Update the client's communication preferences first.");
    }
    const consultation = clinic.insert(clinic.care.consultations, {
      client: client.id,
      patients: input.patients,
      started,
      finished,
      complaint: input.complaint ?? '',
      type: input.type ?? consultationTypes.outpatient,
      status: admitted,
      admitted_time: Math.min(started, clinic.clock()),
      first_entry: null,
      ended: null,
      invoice: null,
      supervising_veterinarian: input.supervising_veterinarian,
      department,
      reporting_dimension_1: input.reporting_dimension_1 ?? null,
      reporting_dimension_2: input.reporting_dimension_2 ?? null,
    });
    for (const patient of patients) {
      clinic.updateQuietly(clinic.registers.patients, patient, { last_consultation: consultation.id });
    }
    return consultation;
  });

/**
 * Changes the status of a consultation, as update_status does. Throws ValidationProblem for a change that the
 * specification does not show.
 */
export const moveConsultation = (clinic: Clinic, id: number, to: number): Consultation =>
  clinic.commit(() => {
    const consultation = consultationOf(clinic, id);
    const from = consultation.status;
    if (!moves.some((move) => move[0] === from && move[1] === to)) {
      throw new ValidationProblem('status', `A consultation in status ${from} cannot be moved to status ${to}.`);
    }
    if (to === finalized) {
      clinic.requireUnlocked(consultation.department, clinic.today(), 'non_field_errors');
      finaliseConsultation(clinic, consultation);
    } else clinic.update(clinic.care.consultations, consultation, { status: to, first_entry: clinic.clock() });
    return consultation;
  });

/** Marks a consultation in progress as ready for discharge. Staff do this in the application; the API cannot. */
export const readyConsultation = (clinic: Clinic, id: number): Consultation =>
  clinic.commit(() => {
    const consultation = consultationOf(clinic, id);
    return clinic.update(clinic.care.consultations, consultation, { status: readyForDischarge });
  });

/**
 * Finalises a consultation and makes an invoice of its items. Returns null if it has no items. `status` is the
 * invoice's status; the default is final. Staff may charge an item differently from the catalogue (`charge` of the
 * item).
 */
export const finaliseConsultation = (
  clinic: Clinic,
  consultation: Consultation,
  status: number = clinic.quirks.consultationInvoice === 'draft' ? invoiceStatus.draft : invoiceStatus.final,
): Invoice | null => {
  const items = clinic.care.items.of(consultation.id).filter((item) => item.charge !== null);
  const { id, client, department, finished } = consultation;
  const rows = items.map((item) => item.charge as RowInput);
  const invoice =
    rows.length === 0 ? null : clinic.createInvoice({ department, client, consultation: id, rows, status });
  for (const item of items) clinic.updateQuietly(clinic.care.items, item, { charge: null });
  const now = clinic.clock();
  clinic.update(clinic.care.consultations, consultation, {
    status: finalized,
    invoice: invoice?.id ?? null,
    ended: now,
    finished: finished ?? Math.max(now, consultation.started),
  });
  return invoice;
};

/** Adds an item of the catalogue. On a farm visit, its quantity is multiplied by the size of the patients' herds. */
export const addItem = (
  clinic: Clinic,
  consultation: Consultation,
  input: ItemInput,
  { typeCode, noMultiplier }: { typeCode: number; noMultiplier: boolean },
): ConsultationItem =>
  clinic.commit(() => {
    requireOpen(consultation);
    requirePatients(consultation, input.patients, 'patients');
    const item = clinic.registers.items.get(input.item);
    if (!item) throw new ValidationProblem('item', 'Invalid hyperlink - Object does not exist.');
    if (item.type_code !== typeCode) throw new ValidationProblem('item', `Item ${item.id} is of another kind.`);
    const quantity = fixed(
      dec(input.quantity).times(noMultiplier ? 1 : herdSize(clinic, consultation, input.patients)),
      4,
    );
    const { vat_percentage } = input;
    const { reporting_dimension_1, reporting_dimension_2 } = consultation;
    const client = clinic.clients.get(consultation.client) ?? null;
    const dimensions = { reporting_dimension_1, reporting_dimension_2 };
    const charge = chargeOf(clinic, item, { quantity, vat_percentage, client, ...dimensions });
    return insertItem(clinic, consultation, item, { ...input, quantity }, charge);
  });

/** Adds an item at the price and account that staff chose (`charge`). */
export const insertItem = (
  clinic: Clinic,
  consultation: Consultation,
  item: CatalogueItem,
  { patients, quantity, vat_percentage, usage_type, usage_size, instructions }: Omit<ItemInput, 'item'>,
  charge: RowInput,
): ConsultationItem =>
  clinic.insert(clinic.care.items, {
    consultation: consultation.id,
    type_code: item.type_code,
    patients,
    item: item.id,
    quantity,
    vat_percentage,
    usage_type: usage_type ?? null,
    usage_size: usage_size ?? null,
    instructions: instructions ?? '',
    charge,
  });

/** Throws ValidationProblem if the consultation no longer takes items. */
export const requireOpen = ({ status }: Consultation): void => {
  if (status !== admitted && status !== inProgress && status !== readyForDischarge) {
    throw new ValidationProblem('consultation', 'The consultation is finalized.');
  }
};

/** Throws ValidationProblem if a patient is not part of the consultation. */
export const requirePatients = (consultation: Consultation, ids: readonly number[], field: string): void => {
  const stranger = ids.find((id) => !consultation.patients.includes(id));
  if (stranger !== undefined)
    throw new ValidationProblem(field, `Patient ${stranger} is not part of this consultation.`);
};

/**
 * The multiplier of a farm visit: the number of animals in the patients' herds. A patient without a herd counts as one.
 * Other consultations have the multiplier 1.
 */
const herdSize = (clinic: Clinic, consultation: Consultation, patients: readonly number[]): Amount => {
  if (consultation.type !== consultationTypes.farmVisit) return '1';
  const { patients: table } = clinic.registers;
  return sumOf(patients.map((id) => String(table.get(id)?.herd_size ?? 1))).toFixed();
};

const clientOf = (clinic: Clinic, id: number): Client => {
  const client = clinic.clients.get(id);
  if (!client) throw new ValidationProblem('client', 'Invalid hyperlink - Object does not exist.');
  return client;
};

const patientOf = (clinic: Clinic, id: number, client: Client): Patient => {
  const patient = clinic.registers.patients.get(id);
  if (!patient) throw new ValidationProblem('patients', `Invalid hyperlink - patient ${id} does not exist.`);
  if (patient.client !== client.id) {
    throw new ValidationProblem('patients', `Patient ${id} does not belong to client ${client.id}.`);
  }
  return patient;
};

const departmentOf = (clinic: Clinic, given: number | undefined, patients: readonly Patient[]): number => {
  if (given !== undefined) {
    if (!clinic.departments.has(given)) throw new ValidationProblem('department', 'Object does not exist.');
    return given;
  }
  const homes = patients.map((patient) => patient.home_department).find((home) => home !== null);
  return homes ?? clinic.departments.keys().next().value ?? 0;
};
