/**
 * The label of an installation for users: `4711 (Eläinklinikka Haukka)`, or only its id if the configuration has no
 * name.
 */
export function labelOf({ id, name }: { id: number; name: string | null }): string {
  return name === null ? String(id) : `${id} (${name})`;
}
