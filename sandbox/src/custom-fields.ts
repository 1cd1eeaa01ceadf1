// Custom fields: checks values and stores them without duplicates (practice-api: Custom fields).
import type { Clinic } from './clinic.ts';
import { ValidationProblem } from './records.ts';
import type { CustomField, CustomFieldValue, FieldContent } from './state/people.ts';
import type { Table } from './table.ts';
import { isDate } from './zone.ts';

/** A value in a request, with the id of its definition (practice-api: Custom fields). */
export interface FieldEntry {
  field_id: number;
  value: FieldContent;
}

type Model = CustomField['model'];

export const fieldValues = (clinic: Clinic, model: Model): Table<CustomFieldValue> =>
  model === 'client' ? clinic.people.clientFieldValues : clinic.people.patientFieldValues;

/** Stores the values of one client or patient. A new value replaces the existing one of the same field. */
export const setFieldValues = (clinic: Clinic, model: Model, owner: number, entries: readonly FieldEntry[]): void => {
  for (const { field, value } of checkFieldValues(clinic, model, entries)) setValue(clinic, model, owner, field, value);
};

/**
 * Checks the entries against their definitions and returns them in the form that is stored. Throws ValidationProblem.
 */
export const checkFieldValues = (clinic: Clinic, model: Model, entries: readonly FieldEntry[]) =>
  entries.map(({ field_id, value }) => {
    const field = fieldOf(clinic, model, field_id, 'fields_rel');
    return { field, value: checkedContent(field, value, 'fields_rel') };
  });

/** Stores one value (practice-api: custom_field_values). Its owner gets a new `modified`. */
export const setFieldValue = (
  clinic: Clinic,
  model: Model,
  owner: number,
  { field_id, value }: FieldEntry,
): { stored: CustomFieldValue; isNew: boolean } => {
  const field = fieldOf(clinic, model, field_id, 'field_id');
  const result = setValue(clinic, model, owner, field, checkedContent(field, value, 'value'));
  const client = model === 'client' ? clinic.clients.get(owner) : undefined;
  const patient = model === 'patient' ? clinic.registers.patients.get(owner) : undefined;
  if (client) clinic.update(clinic.clients, client, {});
  if (patient) clinic.update(clinic.registers.patients, patient, {});
  return result;
};

const setValue = (clinic: Clinic, model: Model, owner: number, { id }: CustomField, value: FieldContent) => {
  const table = fieldValues(clinic, model);
  const known = table.of(owner).find((other) => other.field === id);
  const stored = known ? clinic.update(table, known, { value }) : clinic.insert(table, { owner, field: id, value });
  return { stored, isNew: known === undefined };
};

const fieldOf = (clinic: Clinic, model: Model, id: number, at: string): CustomField => {
  const field = clinic.people.customFields.get(id);
  if (field?.model === model) return field;
  throw new ValidationProblem(at, `There is no custom field ${id} of the model ${model}.`);
};

/**
 * Checks a value and returns the form that is stored. Options get their names from the definition. Throws
 * ValidationProblem for a value of another type.
 */
const checkedContent = (field: CustomField, value: FieldContent, at: string): FieldContent => {
  const refuse = (wanted: string): never => {
    throw new ValidationProblem(at, `The custom field ${field.id} (${field.label}) takes ${wanted}.`);
  };
  if (field.data_type === 'select' || field.data_type === 'multi_select') {
    if (typeof value === 'string') return refuse('an array of options {id, name}');
    if (field.data_type === 'select' && value.length > 1) return refuse('one option');
    const wanted = new Set(value.map(({ id }) => id));
    const options = field.options.filter(({ id }) => wanted.has(id));
    return options.length === wanted.size ? options : refuse('its own options only');
  }
  if (typeof value !== 'string') return refuse('text');
  if (value === '') return value;
  if (field.data_type === 'number' && !/^[+-]?\d{1,15}(\.\d{1,6})?$/.test(value)) return refuse('a number');
  if (field.data_type === 'date' && !isDate(value)) return refuse('a date, YYYY-MM-DD');
  if (field.data_type === 'boolean' && !/^(true|false)$/.test(value)) return refuse('true or false');
  return value;
};
