// Wraps a target and makes single requests fail, for the fake and for a real ERP alike.

import type { ErpEntry, ErpLine } from '../../../src/erp/erp-entry.ts';
import { type CompanyRef, ErpError, type ErpTarget } from '../../../src/erp/port.ts';
import type { SimulatedTime } from '../fake/time.ts';

/**
 * The failure of the next request of a kind. `lost`: it does not arrive, and there is no answer. `answer_lost`: it
 * takes effect, and there is no answer. `late`: the same, but it takes effect after this delay. `refused_though_done`:
 * it takes effect, and the ERP answers with a refusal. `no_ids`: the ERP answers success without ids. `altered`: the
 * ERP answers success, but creates a different entry. `incomplete`: a look-up finds nothing and reports that it is
 * incomplete. `strange`: it has no effect, and the ERP answers an unknown error.
 */
export type Trouble =
  | { is: 'lost' | 'answer_lost' | 'refused_though_done' | 'no_ids' | 'altered' | 'incomplete' | 'strange' }
  | { is: 'late'; ms: number };

export type TroubledRequest = 'create' | 'post' | 'find' | 'keyed' | 'withdrawDrafts';

/** Far more requests than any case needs. */
const mostRequests = 150;

/** Delivery sends requests without end. */
export class Endless extends Error {
  override readonly name = 'Endless';

  constructor() {
    super(`${mostRequests} requests, and delivery does not come to an end`);
  }
}

/** The planned failures of one company, for all its connections. */
export class Troubles {
  /** True if the ERP cannot be reached. */
  isAway = false;
  #requests = 0;
  readonly #next = new Map<TroubledRequest, Trouble[]>();

  /** Plans failures for the next requests of a kind, in order. */
  add(kind: TroubledRequest, ...troubles: Trouble[]): void {
    this.#next.set(kind, [...(this.#next.get(kind) ?? []), ...troubles]);
  }

  take(kind: TroubledRequest): Trouble | null {
    this.#requests += 1;
    if (this.#requests > mostRequests) throw new Endless();
    return this.#next.get(kind)?.shift() ?? null;
  }
}

/** Wraps a target. A request to a real server takes no simulated time. */
export function troubled(
  inner: ErpTarget,
  { troubles, time, company }: { troubles: Troubles; time: SimulatedTime; company: CompanyRef },
): ErpTarget {
  const asked = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    if (troubles.isAway) throw new ErpError('unsent', 'connect ECONNREFUSED');
    return ask();
  };
  const written = async <Result>(
    kind: 'create' | 'post' | 'withdrawDrafts',
    write: (as: 'sent' | 'altered') => Promise<Result>,
    nothing: Result,
  ): Promise<Result> => {
    const trouble = troubles.take(kind);
    switch (trouble?.is) {
      case 'lost':
        throw cut();
      case 'answer_lost':
        await write('sent');
        throw cut();
      case 'refused_though_done':
        await write('sent');
        throw new ErpError('refused', 'The record is locked by another user', { problem: 'erp_refused' });
      case 'strange':
        throw new ErpError('doubt', 'Object reference not set', { problem: 'erp_refused_unknown' });
      case 'no_ids':
        await write('sent');
        return nothing;
      case 'altered':
        return write('altered');
      case 'late':
        // The server continues, but the client does not learn the result.
        time.at(time.nowMs + trouble.ms, () => void write('sent').catch(() => undefined));
        throw cut();
      default:
        return write('sent');
    }
  };
  const { matching, books } = inner;
  return {
    capabilities: inner.capabilities,
    company,
    find: (keys, request) =>
      asked(() =>
        troubles.take('find')?.is === 'incomplete'
          ? Promise.resolve({ found: [], isComplete: false })
          : inner.find(keys, request),
      ),
    keyed: (which, request) =>
      asked(async () => {
        const page = await inner.keyed(which, request);
        return troubles.take('keyed')?.is === 'incomplete' ? { ...page, entries: [], isComplete: false } : page;
      }),
    create: (entries, request) =>
      asked(() =>
        written('create', (as) => inner.create(as === 'sent' ? entries : entries.map(altered), request), new Map()),
      ),
    post: (ids, request) => asked(() => written('post', () => inner.post(ids, request), undefined)),
    withdrawDrafts: (ids, request) =>
      asked(() => written('withdrawDrafts', () => inner.withdrawDrafts(ids, request), undefined)),
    read: (ids, request, only) => asked(() => inner.read(ids, request, only)),
    periods: (request) => asked(() => inner.periods(request)),
    ...(matching && { matching }),
    ...(books && { books }),
    check: (plan, request) => inner.check(plan, request),
    close: () => inner.close(),
  };
}

function cut(): ErpError {
  return new ErpError('doubt', 'socket hang up');
}

/** An entry with the same amounts on another revenue account. */
function altered(entry: ErpEntry): ErpEntry {
  const moved = (line: ErpLine) =>
    line.role === 'revenue' ? { ...line, account: line.account === '3000' ? '3010' : '3000' } : line;
  const { lines, sentLines } = entry;
  return { ...entry, lines: lines.map(moved), ...(sentLines && { sentLines: sentLines.map(moved) }) };
}
