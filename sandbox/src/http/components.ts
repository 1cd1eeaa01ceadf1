// The schemas of the OpenAPI description. Each schema is one component with the name of what it describes: `Invoice`,
// `InvoiceList`, `InvoiceChange`. The first route that uses a schema names it; lists come before other routes.
import { z } from 'zod';
import type { Forms } from './forms.ts';
import type { RouteSpec } from './route.ts';

/** Names of a resource's records, or of one action's body and answer, if they cannot be derived from the action. */
const nouns: Readonly<Record<string, string>> = {
  accountingreport: 'AccountingReport',
  accountnumber: 'AccountNumber',
  alternativepricing: 'AlternativePricing',
  'appointment.create': 'AppointmentBooking',
  'appointment.send_appointment_confirmation': 'AppointmentConfirmation',
  client_custom_field_values: 'CustomFieldValue',
  codelist_species: 'CodeListEntry',
  consultation_foods: 'ConsultationFood',
  consultation_medicines: 'ConsultationMedicine',
  consultation_procedures: 'ConsultationProcedure',
  consultation_supplies: 'ConsultationSupply',
  'consultation.update_status': 'ConsultationStatus',
  consultationdiagnosis: 'ConsultationDiagnosis',
  consultationdischargeinstruction: 'DischargeInstruction',
  consultationitem: 'ConsultationItem',
  consultationnote: 'ConsultationNote',
  countersale: 'CounterSale',
  'countersale.add_item': 'CounterSaleItem',
  custom_fields: 'CustomField',
  'department.settings': 'OnlinePrescriptionSettings',
  'invoice.full_refund': 'FullRefund',
  'invoice.partial_refund': 'PartialRefund',
  'invoice.postransactions': 'Postransaction',
  invoicepayment: 'InvoicePayment',
  'invoicepayment.cancel_payment': 'PaymentCancellation',
  invoicerow: 'InvoiceRow',
  onlinebookingclient: 'OnlineBookingClient',
  onlinebookingpatient: 'OnlineBookingPatient',
  'order.mark_delivered': 'OrderDelivery',
  'order.set_wholesaler_reference_number': 'OrderReference',
  'patient.bulk': 'PatientBulk',
  phonenumber: 'PhoneNumber',
  settings: 'DepartmentSettings',
  unallocatedpayment: 'Prepayment',
  'wholesaler.catalog_upload_url': 'CatalogUpload',
  'wholesaler.receipts': 'ReceiptReport',
};

/** The name of the records of an action's resource. */
export const nounOf = (action: string): string => {
  const resource = action.slice(0, action.lastIndexOf('.'));
  const inWords = resource.replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return nouns[action] ?? nouns[resource] ?? inWords;
};

type Json = Record<string, unknown>;
type Names = z.core.$ZodRegistry<{ id: string }>;
const settings = {
  unrepresentable: 'any',
  uri: (id: string) => `#/components/schemas/${id}`,
  // Zod omits the examples of a transformation's input, so they are added here.
  override: ({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }) => {
    const { examples } = z.globalRegistry.get(zodSchema) ?? {};
    if (examples) jsonSchema.examples = examples;
  },
} as const;

/** The JSON Schema of a schema's input (a request) or output (an answer). */
export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema, ...json } = z.toJSONSchema(schema, { ...settings, io });
  return json;
};

const jsonSchemasOf = (names: Names, io: 'input' | 'output'): [string, Json][] =>
  Object.entries(z.toJSONSchema(names, { ...settings, io }).schemas).map(([name, { $schema, $id, id, ...json }]) => [
    name,
    json,
  ]);

const isSuccess = ([status]: [string, unknown]): boolean => status.startsWith('2');

/** The components of the routes and of `others`, which are answers by name. */
export class Components {
  readonly #bodies: Names = z.registry<{ id: string }>();
  readonly #answers: Names = z.registry<{ id: string }>();
  readonly #taken = new Set<string>();

  constructor(routes: readonly RouteSpec[], forms: Forms, others: Readonly<Record<string, z.ZodType>>) {
    for (const [name, schema] of Object.entries(others)) this.#name(this.#answers, schema, name);
    const isList = ({ action }: RouteSpec): boolean => action.endsWith('.list');
    for (const route of routes.filter(isList)) {
      const list = route.answers[200] as z.ZodObject<{ results: z.ZodArray<z.ZodType> }>;
      this.#name(this.#answers, list.shape.results.element, nounOf(route.action));
      this.#name(this.#answers, list, `${nounOf(route.action)}List`);
    }
    for (const { action, body, answers } of routes.filter((route) => !isList(route))) {
      const noun = nounOf(action);
      const suffix = action.endsWith('.partial_update') ? 'Change' : 'Input';
      if (body) this.#name(this.#bodies, forms.of(body), `${noun}${suffix}`);
      for (const [, answer] of Object.entries(answers).filter(isSuccess)) {
        if (answer) this.#name(this.#answers, answer, noun);
      }
    }
  }

  #name(names: Names, schema: z.ZodType, name: string): void {
    if (names.has(schema)) return;
    if (this.#taken.has(name)) throw new Error(`two schemas of the description are called ${name}`);
    this.#taken.add(name);
    names.add(schema, { id: name });
  }

  /** The reference to the component of a body or an answer. Throws if the schema has no component. */
  refTo(schema: z.ZodType): { $ref: string } {
    const named = this.#bodies.get(schema) ?? this.#answers.get(schema);
    if (!named) throw new Error('the description has no name for a schema');
    return { $ref: settings.uri(named.id) };
  }

  /** All components by name. */
  schemas(): Record<string, Json> {
    const all = [...jsonSchemasOf(this.#bodies, 'input'), ...jsonSchemasOf(this.#answers, 'output')];
    return Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}
