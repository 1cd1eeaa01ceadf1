// practice-api: `/item/` (Endpoints: Consultations). The specification does not show its fields; the sandbox chose
// these. `type_code` is the code of consultation items; the price is per unit, with VAT.
import { z } from 'zod';
import { code, itemTypeCodes } from '../http/codes.ts';
import { amount, answer, id, time, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import type { RouteSpec } from '../http/route.ts';
import type { CatalogueItem } from '../state/registers.ts';
import { wireItem } from '../wire/care.ts';

export const itemRoutes: RouteSpec[] = [
  listRoute<CatalogueItem>({
    path: 'item/',
    action: 'item.list',
    section: 'Consultations',
    summary: 'What the clinic sells; the url of a result is the item of a consultation item',
    permission: 'Settings: Items',
    record: answer({
      ...{ id: id(), url: url(), created: time(), modified: time(), name: z.string() },
      ...{ type_code: code(itemTypeCodes), price_with_vat: amount(), vat_percentage: amount() },
      ...{ account_number: z.string(), reporting_dimension_1: z.string().nullable(), archived: z.boolean() },
    }),
    table: ({ clinic }) => clinic.registers.items,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      name: { kind: 'text', operators: ['icontains'], value: (item) => item.name },
      type_code: { kind: 'integer', operators: ['is'], value: (item) => item.type_code },
      archived: { kind: 'boolean', operators: ['is'], value: (item) => item.archived },
    },
    wire: ({ wire }, item) => wireItem(wire, item),
  }),
];
