// Online prescriptions: staff write one for a client's animals, other systems send and accept it, and its fee is a
// counter sale (practice-api: Online prescription; States: Prescription status).
// Choices of the sandbox: any status may follow any other, because the specification shows no refusal. A counter sale of
// the fee belongs to the client's newest prescription without a fee that was neither rejected nor canceled. Each
// prescription has a separate set of items. Items are valid until today or later.
import type { Clinic } from '../clinic.ts';
import { type Invoice, NotFound, ValidationProblem } from '../records.ts';
import { type Prescription, type PrescriptionItem, prescriptionStatus } from '../state/online.ts';
import { uuid } from './ids.ts';

export interface PrescriptionItemInput {
  name: string;
  patients: number[];
  strength: string;
  instructions: string;
  quantity_packages: number;
  valid_until: string;
  repeat_number: number;
}

export interface PrescriptionInput {
  client: number;
  department: number;
  prescriber: number;
  consultation: number | null;
  issue_time: number;
  status: number;
  remarks: string;
  items: PrescriptionItemInput[];
  /** The user who enters the prescription. */
  user: number | null;
}

/** Adds a prescription with its items. Throws ValidationProblem before it changes anything. */
export const createPrescription = (clinic: Clinic, input: PrescriptionInput): Prescription =>
  clinic.commit(() => {
    requireKnown(clinic, input);
    const { client, department, prescriber, consultation, issue_time, status, remarks, user } = input;
    const prescription = clinic.insert(clinic.online.prescriptions, {
      ...{ client, department, prescriber, consultation, issue_time, status, remarks },
      uuid: uuid(clinic.onlineRng),
      prescription_set_uuid: uuid(clinic.onlineRng),
      invoice: null,
      archived: false,
      created_user: user,
      modified_user: user,
    });
    for (const item of input.items) {
      const patients = [...new Set(item.patients)];
      const row_id = uuid(clinic.onlineRng);
      const fields = { ...item, patients, row_id, prescription: prescription.id, created_user: user };
      clinic.insert(clinic.online.prescriptionItems, fields);
    }
    return prescription;
  });

const requireKnown = (clinic: Clinic, input: PrescriptionInput): void => {
  const { client, department, prescriber, consultation } = input;
  const missing = 'Object does not exist.';
  if (!clinic.clients.get(client)) throw new ValidationProblem('client_id', missing);
  if (!clinic.departments.has(department)) throw new ValidationProblem('department_id', missing);
  const user = clinic.registers.users.get(prescriber);
  if (!user) throw new ValidationProblem('prescriber_id', missing);
  if (!user.is_veterinarian) throw new ValidationProblem('prescriber_id', 'Only a veterinarian can prescribe.');
  if (consultation !== null) {
    const held = clinic.care.consultations.get(consultation);
    if (!held) throw new ValidationProblem('consultation_id', missing);
    if (held.client !== client) throw new ValidationProblem('consultation_id', 'It is of another client.');
  }
  for (const item of input.items) {
    const isTheirs = (id: number): boolean => clinic.registers.patients.get(id)?.client === client;
    if (!item.patients.every(isTheirs)) {
      throw new ValidationProblem('prescription_items', 'patients: not all of them exist and belong to the client.');
    }
    if (item.valid_until < clinic.today()) {
      throw new ValidationProblem('prescription_items', 'valid_until: the date is past.');
    }
  }
};

/** Changes the status or the remarks. */
export const changePrescription = (
  clinic: Clinic,
  prescription: Prescription,
  changes: { status?: number | undefined; remarks?: string | undefined },
  user: number | null,
): Prescription =>
  clinic.commit(() => {
    const { status = prescription.status, remarks = prescription.remarks } = changes;
    return clinic.update(clinic.online.prescriptions, prescription, { status, remarks, modified_user: user });
  });

/** Prescriptions with these statuses are not charged. */
const withoutFee: readonly number[] = [prescriptionStatus.rejected, prescriptionStatus.canceled];

/** Links a counter sale of the department's fee item to the client's newest prescription without a sale. */
export const noteFeeSold = (clinic: Clinic, sale: Invoice): void => {
  const fee = clinic.registers.items.get(clinic.department(sale.department).prescription_fee_item ?? 0);
  if (!fee || sale.client === null || !clinic.invoiceRows.of(sale.id).some(({ name }) => name === fee.name)) return;
  const theirs = clinic.online.prescriptions.of(sale.client);
  const prescription = theirs.findLast(({ invoice, status }) => invoice === null && !withoutFee.includes(status));
  if (prescription) clinic.update(clinic.online.prescriptions, prescription, { invoice: sale.id });
};

export const prescriptionOf = (clinic: Clinic, id: number): Prescription => {
  const prescription = clinic.online.prescriptions.get(id);
  if (!prescription) throw new NotFound();
  return prescription;
};

export const itemsOf = (clinic: Clinic, { id }: Prescription): readonly PrescriptionItem[] =>
  clinic.online.prescriptionItems.of(id);
