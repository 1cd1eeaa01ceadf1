// Consultations and their records (practice-api: Consultation, Consultation items, diagnosis, note, discharge
// instruction).
import type { RowInput } from '../inputs.ts';
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** The codes of practice-api "Consultation status". */
export const consultationStatus = {
  admitted: 0,
  readyForDischarge: 5,
  discharged: 6,
  invoicing: 7,
  inProgress: 8,
  invoicePaid: 9,
  finalized: 10,
  draft: 11,
} as const;

/** The codes of `type` (practice-api: Consultation). */
export const consultationTypes = {
  inpatient: 0,
  outpatient: 1,
  homeCall: 2,
  farmVisit: 3,
  boarding: 4,
  petService: 5,
} as const;

export interface Consultation extends RecordBase {
  client: number;
  patients: readonly number[];
  started: number;
  finished: number | null;
  complaint: string;
  type: number;
  status: number;
  /** The times at which the consultation was created, begun and finalised. */
  admitted_time: number;
  first_entry: number | null;
  ended: number | null;
  invoice: number | null;
  supervising_veterinarian: number;
  department: number;
  reporting_dimension_1: string | null;
  reporting_dimension_2: string | null;
}

export interface ConsultationItem extends RecordBase {
  consultation: number;
  /** One of `itemTypes`. */
  type_code: number;
  patients: readonly number[];
  item: number;
  /** The quantity, already multiplied by the herd size on a farm visit. */
  quantity: Amount;
  vat_percentage: Amount;
  usage_type: number | null;
  usage_size: number | null;
  instructions: string;
  /** The invoice row of the item; null once the invoice exists, because the invoice has the row. */
  charge: RowInput | null;
}

export interface Diagnosis extends RecordBase {
  consultation: number;
  patient: number;
  /** The id of an entry of the code list, or of the clinic's list if `isOwn`. */
  diagnosis: number;
  isOwn: boolean;
  code: string;
  name: string;
  category: number;
  type: number;
}

export interface ConsultationNote extends RecordBase {
  consultation: number;
  patient: number;
  text: string;
  type: number;
}

export interface DischargeInstruction extends RecordBase {
  consultation: number;
  patient: number;
  text: string;
}

export const careTables = (tables: Tables) => ({
  consultations: tables.add<Consultation>('consultation', 90_000),
  items: tables.add<ConsultationItem>('consultationitem', 150_001, (item) => item.consultation),
  diagnoses: tables.add<Diagnosis>('consultationdiagnosis', 95_001, (diagnosis) => diagnosis.consultation),
  notes: tables.add<ConsultationNote>('consultationnote', 96_001, (note) => note.consultation),
  instructions: tables.add<DischargeInstruction>(
    'consultationdischargeinstruction',
    97_001,
    (instruction) => instruction.consultation,
  ),
});
