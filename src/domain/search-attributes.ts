/**
 * Search attributes of our workflows, by name, with the name of their type on Temporal's command line. They are registered
 * in the namespace by src/runtime and, for the embedded server, when it starts.
 */
export const searchAttributes = {
  Installation: 'Keyword',
  SyncHealth: 'Keyword',
  WindowNumber: 'Keyword',
  WindowFrom: 'Datetime',
  WindowTo: 'Datetime',
} as const;
