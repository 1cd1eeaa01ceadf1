// Files of src/texts that have no translations yet. A file leaves the list when it is translated into all languages.
export const untranslated: readonly string[] = [
  'commands/closing',
  'commands/delivery',
  'commands/explain',
  'commands/preview',
  'metrics',
  'reports/binder',
  'reports/erp-check',
  'temporal',
];
