import { catalogue } from '../catalogue.ts';

/** Texts about filed VAT returns in the checklist of a close. */
export const vatReturnTexts = catalogue('reports/vat-returns.vatReturnTexts', {
  noneFiled: 'filed VAT returns: none',
  filedThrough: ({ through }: { through: string }) => `filed VAT returns: up to ${through}`,
  changed: ({ period, entries, tax }: { period: string; entries: number; tax: string }) =>
    `${period} changed since it was filed: ${entries === 1 ? '1 entry' : `${entries} entries`}, VAT ${tax}; \`report vat\` shows it, and a correction return files it`,
  late: ({ entries, missed, tax }: { entries: number; missed: number; tax: string }) =>
    `late lines that no return has taken: ${entries === 1 ? '1 entry' : `${entries} entries`}, VAT ${tax}; ${missed} of them dated before the end of the last return`,
});
