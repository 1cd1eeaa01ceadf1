// Control endpoints, for this machine only: events, statistics, quirks and faults of a sandbox in another process.

import type { IncomingRequest } from './api.ts';
import { decodeBody } from './body.ts';
import type { Faults } from './faults.ts';
import type { Answer } from './http.ts';
import type { LiveEvent } from './live.ts';
import type { Quirks } from './quirks.ts';
import type { Stats } from './stats.ts';

export interface Controls {
  live: (events: number) => LiveEvent[];
  stats: () => Stats;
  setQuirks: (quirks: Partial<Quirks>) => void;
  setFaults: (faults: Partial<Faults>) => void;
}

const maxEvents = 10_000;

/** POST live?events=N, GET stats, POST quirks, POST faults. Null for any other path. */
export const control = async (incoming: IncomingRequest, controls: Controls): Promise<Answer | null> => {
  const { pathname, searchParams } = new URL(incoming.target, incoming.origin);
  switch (`${incoming.method} ${pathname.replace(/\/$/, '')}`) {
    case 'POST /sandbox/live': {
      const events = Number(searchParams.get('events') ?? '1');
      if (!Number.isInteger(events) || events < 0 || events > maxEvents) {
        return { status: 400, body: { events: [`A whole number from 0 to ${maxEvents}.`] } };
      }
      return { status: 200, body: { events: controls.live(events) } };
    }
    case 'GET /sandbox/stats':
      return { status: 200, body: controls.stats() };
    case 'POST /sandbox/quirks':
      controls.setQuirks(await settings(incoming));
      return { status: 200, body: {} };
    case 'POST /sandbox/faults':
      controls.setFaults(await settings(incoming));
      return { status: 200, body: {} };
    default:
      return null;
  }
};

const settings = async (incoming: IncomingRequest): Promise<Record<string, unknown>> => {
  const lossless = await decodeBody(incoming.body, 'application/json');
  return JSON.parse(
    JSON.stringify(lossless, (_key, value) => (value?.isLosslessNumber ? Number(String(value)) : value)),
  );
};

export const isLoopback = (address: string): boolean => /^(127\.|::1$|::ffff:127\.)/.test(address);
