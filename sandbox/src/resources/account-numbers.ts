// practice-api: Account number. If a record with the same number, description and department exists, a create request
// returns it.
import { z } from 'zod';
import { crudRoutes } from '../http/crud.ts';
import { answer, boolean, id, optionalText, text, time, url } from '../http/fields.ts';
import { reference } from '../http/references.ts';
import type { AccountNumber } from '../records.ts';

/** A department or none; forms send an empty field for none. */
const department = () =>
  z.union([reference('department').nullable(), z.literal('').transform(() => null)], {
    error: ({ errors }) => (errors as z.core.$ZodIssue[][])[0]?.[0]?.message,
  });

export const accountNumberRoutes = crudRoutes<AccountNumber, z.ZodObject>({
  name: 'accountnumber',
  noun: 'account number',
  section: 'Accounting reports, account numbers, alternative payers, alternative pricings',
  permission: 'Financial: Invoices',
  table: ({ clinic }) => clinic.accountNumbers,
  record: answer({
    ...{ id: id(), url: url(), created: time(), modified: time() },
    ...{ number: z.string(), description: z.string(), department: url().nullable(), archived: z.boolean() },
  }),
  wire: ({ wire }, account) => wire.accountNumber(account),
  body: z.object({
    number: text(63),
    description: optionalText(255).optional(),
    department: department().optional(),
    archived: boolean().optional(),
  }),
  defaults: { description: '', department: null, archived: false },
  existing: ({ clinic }, { number, description, department }) => {
    const same = clinic.accountNumbers
      .all()
      .find((one) => one.number === number && one.description === description && one.department === department);
    return same?.archived ? clinic.update(clinic.accountNumbers, same, { archived: false }) : same;
  },
});
