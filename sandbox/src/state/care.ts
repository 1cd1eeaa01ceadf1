// Consultations and what is recorded in them (practice-api: Consultation, Consultation items, diagnosis, note, discharge instruction).
import type { RowInput } from '../inputs.ts';
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** practice-api: Consultation status. */
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

/** practice-api: Consultation, `type`. */
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
  /** When it was created, when work on it began, and when it was finalised. */
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
  /** With the herd's multiplier, where that was applied. */
  quantity: Amount;
  vat_percentage: Amount;
  usage_type: number | null;
  usage_size: number | null;
  instructions: string;
  /** The invoice row that it will become. Null once it is invoiced: the invoice has the row. */
  charge: RowInput | null;
}

export interface Diagnosis extends RecordBase {
  consultation: number;
  patient: number;
  /** An entry of the code list, or of the clinic's own list. */
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
