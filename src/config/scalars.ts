import { z } from 'zod';

/** Values of the configuration file. A number may be a text, because values from the environment are texts. */

export const text = z.string({ error: 'must be a text' }).min(1, 'must not be empty');

export const number = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform(Number),
  ],
  { error: 'must be a number' },
);

/** Makes a transform of a text. If `read` returns null, the schema reports `message`. */
export function parsed<Value>(read: (text: string) => Value | null, message: string) {
  return (written: string, context: z.RefinementCtx): Value => {
    const value = read(written);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}

export function positive(example: string) {
  return number.refine((value) => value > 0, `must be a number above 0, for example ${example}`);
}

/** A switch that is off by default. A value from the environment is a text. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')], {
    error: 'must be true or false',
  })
  .default(false);

export const onlyFromEnvironment = `A secret: write only the name of an environment variable, \`\${NAME}\`, or of a file, \`\${file:PATH}\`.`;
