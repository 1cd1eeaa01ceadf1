// Consultations and their records as JSON.
import type { Clinic } from '../clinic.ts';
import type {
  Consultation,
  ConsultationItem,
  ConsultationNote,
  Diagnosis,
  DischargeInstruction,
} from '../state/care.ts';
import type { CatalogueItem } from '../state/registers.ts';
import type { Wire, WireRecord } from '../wire.ts';

export const wireConsultation = (wire: Wire, clinic: Clinic, consultation: Consultation): WireRecord => {
  const { id, created, modified, started, finished, admitted_time, first_entry, ended, ...rest } = consultation;
  return wire.record({
    ...rest,
    id,
    url: wire.ref('consultation', id),
    created: wire.time(created),
    modified: wire.time(modified),
    client: wire.ref('client', consultation.client),
    patients: consultation.patients.map((patient) => wire.ref('patient', patient)),
    started: wire.time(started),
    finished: timeOrNull(wire, finished),
    admitted_time: wire.time(admitted_time),
    first_entry: timeOrNull(wire, first_entry),
    ended: timeOrNull(wire, ended),
    invoice: wire.ref('invoice', consultation.invoice),
    supervising_veterinarian: wire.ref('user', consultation.supervising_veterinarian),
    department: wire.ref('department', consultation.department),
    consultation_items: clinic.care.items.of(id).map((item) => wire.ref('consultationitem', item.id)),
  });
};

export const wireConsultationItem = (wire: Wire, record: ConsultationItem): WireRecord => {
  const { charge: _charge, ...item } = record;
  return wire.record({
    ...item,
    url: wire.ref('consultationitem', item.id),
    created: wire.time(item.created),
    modified: wire.time(item.modified),
    consultation: wire.ref('consultation', item.consultation),
    patients: item.patients.map((patient) => wire.ref('patient', patient)),
    item: wire.ref('item', item.item),
    quantity: wire.text(item.quantity),
    vat_percentage: wire.text(item.vat_percentage),
  });
};

export const wireDiagnosis = (wire: Wire, diagnosis: Diagnosis): WireRecord => {
  const { isOwn, ...rest } = diagnosis;
  const entry = isOwn ? wire.ref('listitem', diagnosis.diagnosis) : diagnosis.diagnosis;
  return wire.record({ ...rest, ...entryOf(wire, 'consultationdiagnosis', diagnosis), diagnosis: entry });
};

export const wireNote = (wire: Wire, note: ConsultationNote): WireRecord =>
  wire.record({ ...note, ...entryOf(wire, 'consultationnote', note) });

export const wireInstruction = (wire: Wire, instruction: DischargeInstruction): WireRecord =>
  wire.record({ ...instruction, ...entryOf(wire, 'consultationdischargeinstruction', instruction) });

export const wireItem = (wire: Wire, item: CatalogueItem): WireRecord =>
  wire.record({
    id: item.id,
    url: wire.ref('item', item.id),
    created: wire.time(item.created),
    modified: wire.time(item.modified),
    name: item.name,
    type_code: item.type_code,
    price_with_vat: wire.text(item.price_with_vat),
    vat_percentage: wire.text(item.vat_percentage),
    account_number: item.account_number,
    reporting_dimension_1: item.reporting_dimension_1,
    archived: item.archived,
  });

/** The fields that all records of a consultation have. */
const entryOf = (
  wire: Wire,
  path: string,
  { id, created, modified, consultation, patient }: ConsultationNote | Diagnosis | DischargeInstruction,
): WireRecord => ({
  url: wire.ref(path, id),
  created: wire.time(created),
  modified: wire.time(modified),
  consultation: wire.ref('consultation', consultation),
  patient: wire.ref('patient', patient),
});

const timeOrNull = (wire: Wire, instantMs: number | null): string | null =>
  instantMs === null ? null : wire.time(instantMs);
