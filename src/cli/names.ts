import type { Config } from '../config/load.ts';
import type { InstallationId } from '../terms.ts';

/** What commands print of an installation, with the name that people call it by, where the configuration has one. */
export function named<Item extends { installation: InstallationId }>(
  { installations }: Config,
  items: readonly Item[],
): (Item & { name?: string })[] {
  const names = new Map(installations.map(({ id, name }) => [id, name]));
  return items.map((item) => {
    const name = names.get(item.installation);
    return name == null ? item : { ...item, name };
  });
}
