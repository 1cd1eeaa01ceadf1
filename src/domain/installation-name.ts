/** An installation as people are shown it: `4711 (Eläinklinikka Haukka)`, or its id alone where the configuration has no name. */
export function labelOf({ id, name }: { id: number; name: string | null }): string {
  return name === null ? String(id) : `${id} (${name})`;
}
