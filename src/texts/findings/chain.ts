/** Defects of the seals of an installation's books. */
export const sealTexts = {
  notContained: ({ n, at, seq }: { n: number; at: string; seq: number }) =>
    `the chain does not contain the head that seal ${n} of ${at} signed (entry ${seq} of the chain)`,
  none: 'there is no seal',
};
