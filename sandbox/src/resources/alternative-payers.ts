// practice-api: Alternative payer. The specification does not show its fields; the sandbox chose these.
import { z } from 'zod';
import { crudRoutes } from '../http/crud.ts';
import { answer, boolean, id, optionalText, text, time, url } from '../http/fields.ts';
import type { AlternativePayer } from '../records.ts';

const optional = ['organization_name', 'vat_number', 'street_address', 'zip_code', 'city', 'country'] as const;
const each = <T>(value: () => T) => Object.fromEntries(optional.map((name) => [name, value()]));

export const alternativePayerRoutes = crudRoutes<AlternativePayer, z.ZodObject>({
  name: 'alternative_payer',
  noun: 'alternative payer',
  section: 'Accounting reports, account numbers, alternative payers, alternative pricings',
  permission: 'General: Patients and clients',
  table: ({ clinic }) => clinic.alternativePayers,
  record: answer({
    ...{ id: id(), url: url(), created: time(), modified: time() },
    ...{ name: z.string(), ...each(() => z.string()), archived: z.boolean() },
  }),
  wire: ({ wire }, payer) => wire.alternativePayer(payer),
  body: z.object({ name: text(255), ...each(() => optionalText(255).optional()), archived: boolean().optional() }),
  defaults: { ...each(() => ''), archived: false },
  canDelete: true,
});
