// The events for wholesalers, with their payloads (practice-api: Events). An event is a record that is saved with the
// clinic. It is sent with the same `event_id` until it is delivered (delivery.ts).
import type { Clinic } from '../clinic.ts';
import type { CatalogUpload, Order, Wholesaler, WholesalerEvent } from '../state/supply.ts';
import type { CatalogErrors } from './catalog-csv.ts';

/** The number of delivered events that are kept for display. */
const keptEvents = 1000;

/** The integration of a credential set; undefined for other types of wholesalers. */
export const integrationOf = (clinic: Clinic, wholesaler: Wholesaler) =>
  wholesaler.type === 'Integration' && wholesaler.available_wholesaler !== null
    ? clinic.supply.available.get(wholesaler.available_wholesaler)
    : undefined;

/** Records an event if the credential set belongs to an integration. */
const emit = (clinic: Clinic, wholesaler: Wholesaler, event: string, payload: object): WholesalerEvent | null => {
  const available = integrationOf(clinic, wholesaler);
  if (!available) return null;
  const { events, uuid } = clinic.supply;
  const oldest = events.all()[0];
  if (events.size >= keptEvents && oldest && oldest.state !== 'waiting') events.delete(oldest.id);
  const event_id = uuid();
  return clinic.insert(events, {
    available_wholesaler: available.id,
    wholesaler: wholesaler.id,
    event,
    event_id,
    body: JSON.stringify({
      event,
      event_id,
      available_wholesaler: { id: available.id, name: available.name },
      ...payload,
    }),
    attempts: 0,
    state: 'waiting',
  });
};

/** Blank fields are sent as null. */
const orNull = (text: string | null): string | null => (text === null || text.trim() === '' ? null : text);

const departmentOf = (clinic: Clinic, id: number | null) =>
  id === null ? null : { id, name: clinic.department(id).name };

/**
 * Records `wholesaler.created` or `wholesaler.updated` with the credentials, or `wholesaler.deleted` with only the id.
 */
export const emitWholesaler = (clinic: Clinic, kind: 'created' | 'updated' | 'deleted', wholesaler: Wholesaler) => {
  const available = integrationOf(clinic, wholesaler);
  if (!available) return null;
  const { id, customer_number, customer_username, customer_password, department } = wholesaler;
  const credentials = {
    customer_number: orNull(customer_number),
    customer_username: orNull(customer_username),
    customer_password: orNull(customer_password),
    department: departmentOf(clinic, department),
  };
  return emit(clinic, wholesaler, `wholesaler.${kind}`, {
    available_wholesaler: {
      id: available.id,
      name: available.name,
      email: orNull(available.email ?? ''),
      register_number: orNull(available.register_number ?? ''),
    },
    wholesaler: kind === 'deleted' ? { id } : { id, ...credentials },
  });
};

/**
 * Records `order.placed`. `customerNumber` is that of the department's credential set, or else of the clinic-wide set.
 */
export const emitOrder = (clinic: Clinic, wholesaler: Wholesaler, order: Order, customerNumber: string | null) => {
  const organisation = clinic.supply.organisations.all()[0];
  const purchaser = order.purchaser === null ? undefined : clinic.registers.users.get(order.purchaser);
  return emit(clinic, wholesaler, 'order.placed', {
    wholesaler: { id: wholesaler.id, customer_number: orNull(customerNumber) },
    order: {
      id: order.id,
      notes: orNull(order.notes),
      customer: {
        name: organisation?.name ?? '',
        department: clinic.department(order.department).name,
        postal_address: organisation?.postal_address ?? '',
        postal_code: organisation?.postal_code ?? '',
        city: organisation?.city ?? '',
        country_code: organisation?.country_code ?? '',
      },
      purchaser: {
        name: purchaser ? `${purchaser.first_name} ${purchaser.last_name}` : '',
        phone: organisation?.phone ?? '',
        email: purchaser?.email ?? '',
      },
      items: order.lines.map(({ product_number, product_name, quantity, unit, barcode, notes }) => ({
        ...{ product_number, product_name, quantity },
        ...{ unit: orNull(unit), barcode: orNull(barcode), notes: orNull(notes) },
      })),
    },
  });
};

/**
 * Records `catalog.processed`. `reportUrl` is the address of the report of all errors, if there are too many for the
 * event.
 */
export const emitCatalog = (
  clinic: Clinic,
  wholesaler: Wholesaler,
  upload: CatalogUpload,
  outcome: { rows_total: number; rows_accepted: number; rows_rejected: number; errors: CatalogErrors },
  reportUrl: string,
) => {
  const { rows_total, rows_accepted, rows_rejected, errors } = outcome;
  const truncated = errors.isTooMany;
  return emit(clinic, wholesaler, 'catalog.processed', {
    wholesaler: { id: wholesaler.id },
    upload: {
      ...{ id: upload.id, catalog_id: upload.catalog_id, filename: upload.filename, status: upload.status },
      ...{ rows_total, rows_accepted, rows_rejected },
      errors: truncated ? null : errors.kept,
      errors_truncated: truncated,
      ...(truncated ? { error_summary: errors.summary(), error_report_url: reportUrl } : {}),
    },
  });
};
