// Purchase orders (practice-api: States: Order; Set reference number; Mark delivered). Staff place them; the
// integration writes its reference and marks them delivered. Choices of the sandbox: the codes 0 Ordering in
// process and 1 Ordered (2 is shown). Staff can change and send an Ordered order again. Goods come into stock as
// described at `markDelivered`.
import type { Clinic } from '../clinic.ts';
import { type Amount, fixed, sumOf } from '../money.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { type Order, type OrderLine, orderStatus } from '../state/supply.ts';
import { setFor, wholesalerOf } from './credentials.ts';
import { emitOrder, integrationOf } from './events.ts';

export interface OrderLineInput extends Pick<OrderLine, 'product_number' | 'quantity'> {
  /** The default is the name of the item that the wholesaler supplies under this number. */
  product_name?: string | undefined;
  /** The default is the item that the wholesaler supplies under this number. */
  item?: number | null | undefined;
  unit?: string | null | undefined;
  barcode?: string | null | undefined;
  notes?: string | null | undefined;
}

export interface OrderInput {
  /** The credential set of the order. */
  wholesaler: number;
  /** The default is the location of the credential set, or else the organisation's default department. */
  department?: number | undefined;
  notes?: string | null | undefined;
  purchaser?: number | null | undefined;
  lines: OrderLineInput[];
}

export const orderOf = (clinic: Clinic, id: number): Order => {
  const order = clinic.supply.orders.get(id);
  if (!order) throw new NotFound();
  return order;
};

const linesOf = (clinic: Clinic, wholesaler: number, lines: OrderLineInput[]): OrderLine[] => {
  if (lines.length === 0) throw new ValidationProblem('lines', 'This list may not be empty.');
  const supplied = clinic.supply.suppliedItems.of(wholesaler);
  return lines.map(({ product_number, quantity, unit = null, barcode = null, notes = null, ...line }) => {
    const known = supplied.find(({ codes }) => codes[0] === product_number);
    const item = line.item === undefined ? (known?.item ?? null) : line.item;
    const product_name = line.product_name ?? known?.name ?? '';
    return { product_number, quantity, unit, barcode, notes, item, product_name };
  });
};

/** Adds an order that staff have not sent yet (Ordering in process). */
export const draftOrder = (clinic: Clinic, input: OrderInput): Order =>
  clinic.commit(() => {
    const wholesaler = wholesalerOf(clinic, input.wholesaler);
    if (wholesaler.archived) throw new ValidationProblem('wholesaler', 'The wholesaler is archived.');
    const department =
      input.department ?? wholesaler.department ?? defaultDepartment(clinic) ?? firstDepartment(clinic);
    return clinic.insert(clinic.supply.orders, {
      wholesaler: wholesaler.id,
      department: clinic.department(department).id,
      status: orderStatus.ordering,
      notes: input.notes ?? null,
      purchaser: input.purchaser ?? clinic.registers.users.all()[0]?.id ?? null,
      wholesaler_reference_number: '',
      delivery_date: null,
      lines: linesOf(clinic, wholesaler.id, input.lines),
    });
  }, 'request');

/**
 * Sends the purchase order: an integration gets `order.placed`; other types of wholesalers get no event. An order that
 * is already Ordered can be sent again with changes. It keeps its id and gets a new event id.
 */
export const sendOrder = (
  clinic: Clinic,
  id: number,
  changes: Partial<Pick<OrderInput, 'notes' | 'lines'>> = {},
): Order =>
  clinic.commit(() => {
    const order = orderOf(clinic, id);
    if (order.status === orderStatus.delivered)
      throw new ValidationProblem('status', 'The order is delivered already.');
    const { orders } = clinic.supply;
    clinic.update(orders, order, {
      status: orderStatus.ordered,
      ...(changes.notes === undefined ? {} : { notes: changes.notes }),
      ...(changes.lines === undefined ? {} : { lines: linesOf(clinic, order.wholesaler, changes.lines) }),
    });
    const wholesaler = wholesalerOf(clinic, order.wholesaler);
    const ofLocation = setFor(clinic, wholesaler.available_wholesaler ?? 0, order.department);
    const clinicWide = setFor(clinic, wholesaler.available_wholesaler ?? 0, null);
    const number = ofLocation?.customer_number || wholesaler.customer_number || clinicWide?.customer_number || null;
    emitOrder(clinic, wholesaler, order, number);
    return order;
  }, 'request');

/** True if the order was sent to the integration of this OAuth2 application. */
export const isOrderOf = (clinic: Clinic, order: Order, clientId: string): boolean =>
  integrationOf(clinic, wholesalerOf(clinic, order.wholesaler))?.owner === clientId;

export const setReference = (clinic: Clinic, order: Order, wholesaler_reference_number: string): Order => {
  if (order.status === orderStatus.ordering) {
    throw new ValidationProblem('non_field_errors', 'The order is still in Ordering in process.');
  }
  if (order.wholesaler_reference_number === wholesaler_reference_number) return order;
  return clinic.update(clinic.supply.orders, order, { wholesaler_reference_number });
};

/**
 * Marks an order as delivered, for staff and for the integration. Ordered goods that did not come with accepted batches
 * are now in stock.
 */
export const markDelivered = (clinic: Clinic, id: number): Order =>
  clinic.commit(() => {
    const order = orderOf(clinic, id);
    if (order.status !== orderStatus.ordered) {
      throw new ValidationProblem('non_field_errors', "The order must be in 'Ordered' status.");
    }
    const { orders, stock } = clinic.supply;
    for (const item of new Set(order.lines.flatMap((line) => line.item ?? []))) {
      const ordered = sumOf(order.lines.flatMap((line) => (line.item === item ? [line.quantity] : [])));
      const rest = ordered.minus(sumOf(stockOfOrder(clinic, order.id, item)));
      if (!rest.greaterThan(0)) continue;
      clinic.insert(stock, {
        ...{ item, department: order.department, quantity: fixed(rest, 3), order: order.id, receipt_line: null },
        ...{ batch_number: null, expiry_date: null },
      });
    }
    return clinic.update(orders, order, { status: orderStatus.delivered, delivery_date: clinic.clock() });
  }, 'request');

/** The quantities of an item that have come into stock for an order. */
const stockOfOrder = (clinic: Clinic, order: number, item: number): Amount[] =>
  clinic.supply.stock.of(order).flatMap((entry) => (entry.item === item ? [entry.quantity] : []));

/** The department for goods without an order or location; null if the organisation has none. */
export const defaultDepartment = (clinic: Clinic): number | null => {
  const organisation = clinic.supply.organisations.all()[0];
  return organisation ? organisation.default_department : firstDepartment(clinic);
};

const firstDepartment = (clinic: Clinic): number => [...clinic.departments.keys()][0] ?? 0;

export const setDefaultDepartment = (clinic: Clinic, department: number | null): void =>
  clinic.commit(() => {
    const organisation = clinic.supply.organisations.all()[0];
    if (!organisation) throw new NotFound();
    clinic.update(clinic.supply.organisations, organisation, { default_department: department });
  }, 'request');
