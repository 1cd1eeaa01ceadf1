/**
 * Today in the tests, so that they pass on any day. Each test process and each test database has a clock that shows `today` when the run
 * starts and continues at real pace. `VETLEDGER_TEST_TODAY` names another instant (`npm run test:days`). Only the Temporal server has
 * the machine's clock.
 */
export const today = process.env.VETLEDGER_TEST_TODAY ?? '2026-09-16T09:00:00Z';

/** The environment of test processes and of the Node.js processes that they start: `moved-clock.ts` reads it. */
export function clockEnvironment(): { VETLEDGER_TEST_CLOCK_MS: string; NODE_OPTIONS: string } {
  const { VETLEDGER_TEST_CLOCK_MS: moved, NODE_OPTIONS: options = '' } = process.env;
  // The clock of a run that a test starts is moved already.
  if (moved !== undefined) return { VETLEDGER_TEST_CLOCK_MS: moved, NODE_OPTIONS: options };
  return {
    VETLEDGER_TEST_CLOCK_MS: String(Date.parse(today) - Date.now()),
    NODE_OPTIONS: `${options} --import=${new URL('moved-clock.ts', import.meta.url).href}`.trimStart(),
  };
}

/** Moves the clock of this process: `Date.now()` and `new Date()`. Durations, timers and dates that are given stay as they are. */
export function moveClock(byMs: number): void {
  const machine = Date;
  const now = () => machine.now() + byMs;
  globalThis.Date = new Proxy(machine, {
    construct: (_, given) => Reflect.construct(machine, given.length > 0 ? given : [now()]),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

/** Statements of a superuser that move the clock of a database and of its copies. */
export function databaseClock(byMs: number): string {
  const moved = ['clock_timestamp', 'now', 'statement_timestamp', 'transaction_timestamp'].map((name) => {
    const volatility = name === 'clock_timestamp' ? 'volatile' : 'stable';
    return `
      create function pg_catalog.machine_${name}() returns timestamptz language internal ${volatility} strict parallel safe as '${name === 'transaction_timestamp' ? 'now' : name}';
      create or replace function pg_catalog.${name}() returns timestamptz language sql ${volatility} parallel safe
        as $$ select pg_catalog.machine_${name}() + interval '${byMs} milliseconds' $$;`;
  });
  return moved.join('');
}

/** The machine's time, in epoch milliseconds, whatever today is. */
export function machineTime(): number {
  return performance.timeOrigin + performance.now();
}
