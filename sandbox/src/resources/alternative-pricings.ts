// practice-api: Alternative pricing. The specification does not show its fields; the sandbox chose these.
import { z } from 'zod';
import { crudRoutes } from '../http/crud.ts';
import { amount, answer, boolean, decimal, id, text, time, url } from '../http/fields.ts';
import type { AlternativePricing } from '../records.ts';

export const alternativePricingRoutes = crudRoutes<AlternativePricing, z.ZodObject>({
  name: 'alternativepricing',
  noun: 'alternative pricing',
  section: 'Accounting reports, account numbers, alternative payers, alternative pricings',
  permission: 'Settings: Items',
  table: ({ clinic }) => clinic.alternativePricings,
  record: answer({
    ...{ id: id(), url: url(), created: time(), modified: time() },
    ...{ name: z.string(), percentage: amount(), archived: z.boolean() },
  }),
  wire: ({ wire }, pricing) => wire.alternativePricing(pricing),
  body: z.object({ name: text(255), percentage: decimal(2).optional(), archived: boolean().optional() }),
  defaults: { percentage: '0.00', archived: false },
  canDelete: true,
});
