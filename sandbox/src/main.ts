// Runs the sandbox without vetledger: `npx vetledger-sandbox --port 8090`. `vetledger sandbox` has the same options.
import { parseArgs } from 'node:util';
import { SandboxError, startFromCommand } from './command.ts';
import { scenarioNames } from './scenarios.ts';

const usage = `Usage: vetledger-sandbox [options]

  --port N                port on 127.0.0.1; 0 takes any free one (default 8090)
  --seed N                which clinic; the same seed gives the same one (default 1)
  --invoices N            final invoices of its history (default 2600)
  --rate-window SECONDS   length of the rolling window of its rate limits; 0 turns them off (default 60)
  --latency MS            milliseconds that each answer takes longer (default 0)
  --token TOKEN           bearer token it accepts (default: $PRACTICE_TOKEN, or sandbox-token)
  --now TIME              where the clinic's clock stands at the start, such as 2026-03-31T18:00:00
  --scenario NAME         what goes wrong: ${scenarioNames.join(', ')}
  --fixtures FILE         add the clients, invoices and more of this JSON file
  --settings FILE         installations, applications, quirks and faults, as JSON
  --state FILE            keep the clinic in this file over restarts
  --durable               each change is on the disk before its answer (default: within 100 ms)
  --webhooks URL          send a webhook for each change to this address
  --host ADDRESS          address to listen on (default 127.0.0.1)
  --json                  print one line of JSON with its address and credentials

Examples:
  vetledger-sandbox
  vetledger-sandbox --port 0 --seed 7 --rate-window 0 --json
  vetledger-sandbox --scenario flaky --state clinic.ndjson
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

try {
  const { values } = parseArgs({
    options: {
      ...{ port: text, seed: text, invoices: text, 'rate-window': text, latency: text },
      ...{ token: text, now: text, scenario: text, fixtures: text, settings: text, state: text, durable: flag },
      ...{ webhooks: text, host: text, json: flag, help: flag },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
  } else {
    const started = await startFromCommand({
      port: amount(values.port, 8090, 'port'),
      seed: amount(values.seed, 1, 'seed'),
      invoices: amount(values.invoices, 2600, 'invoices'),
      rateWindow: amount(values['rate-window'], 60, 'rate-window', /^\d+(\.\d+)?$/),
      latency: amount(values.latency, 0, 'latency'),
      token: values.token || process.env.PRACTICE_TOKEN || 'sandbox-token',
      host: values.host ?? '127.0.0.1',
      ...(values.state ? { state: values.state } : {}),
      ...(values.durable ? { durable: true } : {}),
      ...(values.now ? { now: values.now } : {}),
      ...(values.scenario ? { scenario: values.scenario } : {}),
      ...(values.fixtures ? { fixtures: values.fixtures } : {}),
      ...(values.settings ? { settings: values.settings } : {}),
      ...(values.webhooks ? { webhooks: webAddress(values.webhooks) } : {}),
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void started.sandbox.stop());
    process.stdout.write(`${values.json ? JSON.stringify(started.document) : started.text}\n`);
  }
} catch (error) {
  const isUsage = error instanceof TypeError || error instanceof RangeError;
  if (!isUsage && !(error instanceof SandboxError)) throw error;
  process.stderr.write(`error: ${error.message}\n${isUsage ? `\n${usage}` : `what to do: ${error.todo}\n`}`);
  process.exitCode = 2;
}

function amount(value: string | undefined, otherwise: number, name: string, form = /^\d{1,9}$/): number {
  if (value === undefined) return otherwise;
  if (!form.test(value)) throw new RangeError(`--${name} takes a number, not '${value}'.`);
  return Number(value);
}

function webAddress(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new RangeError(`--webhooks takes a web address, not '${value}'.`);
  return value;
}
