/** What `vetledger migrate` did; `runtime` is null where one role does all. */
export interface Migrated {
  applied: string[];
  /** Contractions that the database works without. */
  waiting: string[];
  owner: string | null;
  runtime: string | null;
}

export function migratedText({ applied, waiting, runtime }: Migrated): string {
  const did = applied.length === 0 ? 'The database was up to date.' : `Applied: ${applied.join(', ')}.`;
  const rights =
    runtime === null
      ? ''
      : ` The role ${runtime} has its rights: it reads and adds in the journal, and changes nothing there.`;
  const later =
    waiting.length === 0
      ? ''
      : `\nNot applied: ${waiting.join(', ')}. Older versions cannot work after it; once you will not go back to one, run \`vetledger migrate --contract\`.`;
  return `${did}${rights}${later}`;
}
