// Schemas that clients, patients and custom fields share.
import { z } from 'zod';
import { fieldTypes } from '../state/people.ts';
import { answer, id, integer, optionalText } from './fields.ts';

/** The value of a custom field in a request: text, or the chosen options for the select types. */
export const fieldEntry = z.object({
  field_id: integer({ min: 0 }),
  value: z.union(
    [optionalText(1000), z.array(z.object({ id: integer({ min: 0 }), name: optionalText(255) })).max(100)],
    {
      error: 'Expected text, or an array of options.',
    },
  ),
});

export const fieldEntries = () => z.array(fieldEntry, { error: 'Expected a list of items.' }).max(100).optional();

const option = answer({ id: id(), name: z.string() });

export const customFieldAnswer = answer({
  ...{ id: id(), label: z.string(), data_type: z.enum(fieldTypes), model: z.enum(['client', 'patient']) },
  options: z.array(option),
});

export const fieldValueAnswer = answer({
  ...{ id: id(), field_id: id(), name: z.string(), value: z.union([z.string(), z.array(option)]) },
});
