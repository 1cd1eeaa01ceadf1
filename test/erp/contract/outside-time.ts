import type { ErpTarget } from '../../../src/erp/port.ts';
import type { SimulatedTime } from '../fake/time.ts';

/** A target whose requests take real time, during which the simulated time stops. */
export function outsideTime(target: ErpTarget, time: SimulatedTime): ErpTarget {
  const real = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    const end = time.begin();
    try {
      return await ask();
    } finally {
      end();
    }
  };
  const { matching } = target;
  return {
    ...{ capabilities: target.capabilities, company: target.company },
    find: (keys, request) => real(() => target.find(keys, request)),
    keyed: (which, request) => real(() => target.keyed(which, request)),
    create: (entries, request) => real(() => target.create(entries, request)),
    post: (ids, request) => real(() => target.post(ids, request)),
    withdrawDrafts: (ids, request) => real(() => target.withdrawDrafts(ids, request)),
    read: (ids, request, only) => real(() => target.read(ids, request, only)),
    periods: (request) => real(() => target.periods(request)),
    ...(matching && {
      matching: {
        match: (groups, request) => real(() => matching.match(groups, request)),
        unmatch: (groups, request) => real(() => matching.unmatch(groups, request)),
        unmatchable: (accounts, request) =>
          real(async () => (await matching.unmatchable?.(accounts, request)) ?? new Set<string>()),
      },
    }),
    check: (plan, request) => target.check(plan, request),
    close: () => target.close(),
  };
}
