// Live events of purchasing: staff sometimes order items that are out of stock, and orders arrive.
import type { Clinic } from '../clinic.ts';
import type { Rng } from '../rng.ts';
import { orderStatus, type Wholesaler } from '../state/supply.ts';
import { integrationOf } from './events.ts';
import { draftOrder, markDelivered, sendOrder } from './orders.ts';
import { acceptBatch } from './receipts.ts';

/** Purchasing events search this number of the newest records for one that they can use. */
const reach = 200;

/**
 * Makes one event happen: staff accept a reported batch, receive an order, or place one. Orders to an integration are
 * delivered by that integration only. Returns null if the clinic has no wholesaler. `rng` is the random stream of these
 * events.
 */
export const supplyHappening = (clinic: Clinic, rng: Rng): { kind: string; text: string } | null =>
  clinic.commit(() => acceptReported(clinic) ?? (rng.chance(0.5) ? receive(clinic) : null) ?? order(clinic, rng));

const acceptReported = (clinic: Clinic) => {
  const lines = clinic.supply.receiptLines.all().slice(-reach);
  const line = lines.find(({ item, batch_accepted }) => item !== null && !batch_accepted);
  if (!line) return null;
  acceptBatch(clinic, line.id);
  return {
    kind: 'batch_accepted',
    text: `batch ${line.batch_number ?? 'without number'} of ${line.quantity} accepted`,
  };
};

const receive = (clinic: Clinic) => {
  const { orders, wholesalers } = clinic.supply;
  const isOurs = (id: number): boolean => {
    const wholesaler = wholesalers.get(id);
    return wholesaler !== undefined && integrationOf(clinic, wholesaler) === undefined;
  };
  const waiting = orders
    .all()
    .slice(-reach)
    .find((one) => one.status === orderStatus.ordered && isOurs(one.wholesaler));
  if (!waiting) return null;
  markDelivered(clinic, waiting.id);
  return { kind: 'order_delivered', text: `order ${waiting.id} delivered` };
};

const order = (clinic: Clinic, rng: Rng) => {
  const { suppliedItems, wholesalers } = clinic.supply;
  const supplied = (wholesaler: Wholesaler) =>
    suppliedItems.of(wholesaler.id).filter((one) => !one.discontinued && one.codes[0]);
  const active = wholesalers.all().filter((one) => !one.archived && supplied(one).length > 0);
  const wholesaler = active.length === 0 ? undefined : rng.pick(active);
  if (!wholesaler) return null;
  const products = supplied(wholesaler);
  const lines = Array.from({ length: rng.int(1, 4) }, () => {
    const { item, name, codes, barcode } = rng.pick(products);
    return {
      ...{ item, product_number: codes[0] ?? '', product_name: name, quantity: String(rng.int(1, 20)) },
      ...{ unit: 'package', barcode },
    };
  });
  const department = wholesaler.department ?? rng.pick([...clinic.departments.keys()]);
  const placed = sendOrder(clinic, draftOrder(clinic, { wholesaler: wholesaler.id, department, lines }).id);
  return { kind: 'order_placed', text: `order ${placed.id} of ${lines.length} products to ${wholesaler.name}` };
};
