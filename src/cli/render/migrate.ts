/** What `vetledger migrate` did; `runtime` is null where one role does all. */
export interface Migrated {
  applied: string[];
  owner: string | null;
  runtime: string | null;
}

export function migratedText({ applied, runtime }: Migrated): string {
  const did = applied.length === 0 ? 'The database was up to date.' : `Applied: ${applied.join(', ')}.`;
  const rights =
    runtime === null
      ? ''
      : ` The role ${runtime} has its rights: it reads and adds in the journal, and changes nothing there.`;
  return `${did}${rights}`;
}
