// Files of src/texts that stay English: metrics and the Temporal UI have one language for all readers.
export const untranslated: readonly string[] = ['metrics', 'temporal'];
