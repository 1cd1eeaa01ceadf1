import { isDelivered } from '../config/erp.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { pauseOf } from '../erp/outbox/outbox-queries.ts';
import { windowPause } from '../sync/pauses.ts';

/** A pause of windows or of the delivery, by whom and since when. */
export interface Pause {
  by: string;
  since: Date;
}

/** The pauses of an installation. `delivery` is absent if the installation delivers nothing. */
export type Pauses = { windows: Pause | null; delivery?: Pause | null };

/** The pauses of an installation, without their reasons. */
export async function pausesNow(db: Connection, { id, erp }: InstallationConfig): Promise<Pauses> {
  const windows = await windowPause(db, id);
  const delivery = isDelivered(erp) ? await pauseOf(db, id) : undefined;
  return {
    windows: windows && { by: windows.actedBy, since: windows.since },
    ...(delivery === undefined ? {} : { delivery: delivery && { by: delivery.acted_by, since: delivery.acted_at } }),
  };
}

/** The state that the form of a pause or resumption shows, as canonical text for its hash. */
export function shownPause(pause: Pause | null): string {
  return JSON.stringify(pause ? [pause.by, pause.since.toISOString()] : null);
}
