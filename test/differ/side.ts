// Plays one side of a world: runs the commands of a checkout as processes, with a separate database, clinic and ERP.

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import { answerFaults } from '../simulator/answers.ts';
import { dropDatabase, runAlone, urlOfDatabase } from '../support/server.ts';
import { type SourceAnswer, type SourceRequest, startTamperingProxy } from '../support/tampering.ts';
import { configure, startErp } from './books.ts';
import { happen, type Scene, withPoison } from './happenings.ts';
import { comparable } from './masking.ts';
import { begins, installation, type Step, type Strike, type World } from './world.ts';

/** A command that runs longer is killed, and the comparison shows that. */
const limitMs = 300_000;
/**
 * Flags that reduce garbage collection. Older revisions of bin/vetledger.js would start a second process without them.
 */
const quickStart = ['--heap-growing-percent=35', '--max-semi-space-size=32'];

export interface Services {
  /** PostgreSQL with the program's role, and with the owner of the tables. */
  url: string;
  ownerUrl: string;
  /** host:port. */
  temporal: string;
}

/** A checkout of vetledger, and the folder of its side of one world. */
export interface Place {
  root: string;
  folder: string;
  database: string;
  signal: AbortSignal;
}

/** A command line and the lines of its output in comparable form. `code` is null if the world killed the command. */
export interface Told {
  command: string;
  code: number | null;
  lines: string[];
}

/** Plays a world with the commands of one checkout, and deletes everything that it created. */
export async function playSide(world: World, services: Services, place: Place): Promise<Told[]> {
  const side = new Side(world, services, place);
  try {
    return await side.play();
  } finally {
    await side.stop();
  }
}

class Side {
  readonly #world: World;
  readonly #services: Services;
  readonly #place: Place;
  readonly #began = Date.now();
  readonly #stops: (() => Promise<unknown>)[] = [];
  readonly #asked = new Map<string, number>();
  #now = Date.parse(begins);
  #strikes: readonly Strike[] = [];
  #kill: (() => void) | null = null;
  #isRemapped = false;

  constructor(world: World, services: Services, place: Place) {
    this.#world = world;
    this.#services = services;
    this.#place = place;
  }

  async play(): Promise<Told[]> {
    const { database, folder } = this.#place;
    await runAlone(this.#services.ownerUrl, `create database ${database}`);
    this.#stops.push(() => dropDatabase(this.#services.ownerUrl, database));
    mkdirSync(folder, { recursive: true });
    const erp = await startErp(this.#world.erp, folder);
    this.#stops.push(erp.stop);
    const { seed, clinic, steps, questions } = this.#world;
    const sandbox = await startSandbox({
      ...{ ...clinic, seed, installation, rateWindowSeconds: 0, now: () => new Date(this.#now) },
    });
    this.#stops.push(sandbox.stop);
    const scene: Scene = { clinic: sandbox.clinic, names: new Map(), poisoned: new Map(), closeErp: erp.close };
    const url = await this.#startProxy(sandbox, scene);
    configure(this.#world, folder, url, erp.settings);
    const env = { ...this.#environment(sandbox), ERP_PASSWORD: erp.password };
    const own = [url, sandbox.url].map((one): [string, string] => [one, '<practice>']);
    own.push(
      [folder, '<folder>'],
      [database, '<database>'],
      ...(erp.url ? [[erp.url, '<erp>'] as [string, string]] : []),
    );
    const told: Told[] = [];
    const lines = (text: string) => comparable(text, { began: this.#began, ended: Date.now(), own });
    const run = async (command: string[]) => {
      const ran = await this.#run(command, env);
      // The output of these commands depends on time, so only the final state is compared.
      const isMoving = ['migrate', 'sync', 'backfill', 'replay', 'deliver'].includes(command[0]!);
      const printed = isMoving && ran.code === 0 ? [] : lines(ran.stdout);
      const said = ran.code === 0 || ran.code === null ? [] : lines(ran.stderr);
      told.push({ command: command.join(' '), code: ran.code, lines: ran.code === null ? [] : [...printed, ...said] });
    };
    await run(['migrate']);
    for (const step of steps) await run(this.#begin(step, sandbox, scene));
    this.#strikes = [];
    for (const question of questions) await run(question);
    told.push({ command: 'the books of the ERP', code: 0, lines: lines(erp.lines().join('\n')).toSorted() });
    return told;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop().catch((error: unknown) => console.error(String(error)));
  }

  /** Makes the events of a step. Returns the words of its command with the ids of this world. */
  #begin(step: Step, sandbox: Sandbox, scene: Scene): string[] {
    this.#now = Math.floor(this.#now / 3_600_000 + step.hours) * 3_600_000;
    sandbox.live(step.events);
    for (const happening of step.happenings) happen(scene, happening);
    // Events have whole minutes and windows do not, so that masking.ts can distinguish their times.
    this.#now += 30_000;
    this.#strikes = step.strikes;
    this.#asked.clear();
    if (step.remapped) this.#isRemapped = true;
    return step.command.map((word) => word.replace(/\{(\w+)\}/, (_, name) => scene.names.get(name) ?? name));
  }

  /** Starts the server that the commands use: the sandbox with the faults of the world. Returns its address. */
  async #startProxy(sandbox: Sandbox, scene: Scene): Promise<string> {
    const proxy = await startTamperingProxy();
    this.#stops.push(proxy.stop);
    proxy.target = sandbox.url;
    proxy.tamper = async (answer, request) => {
      const list = /\/(\w+)\/(?:\?|$)/.exec(request.path)?.[1] ?? '';
      const isList = request.method === 'GET' && answer.status === 200;
      const body = isList ? withPoison(answer.body, list, scene.poisoned) : answer.body;
      return this.#struck({ ...answer, body }, request, list);
    };
    return proxy.url;
  }

  async #struck(answer: SourceAnswer, request: SourceRequest, list: string): Promise<SourceAnswer | null> {
    const nth = (this.#asked.get(list) ?? 0) + 1;
    this.#asked.set(list, nth);
    let struck: SourceAnswer | null = answer;
    for (const strike of this.#strikes) {
      if (strike.list !== list || strike.nth !== nth || struck === null) continue;
      if (strike.what === 'kill') {
        this.#kill?.();
        return null;
      }
      const rng = new Rng(this.#world.seed, `${strike.what} ${list} ${nth}`);
      struck = await answerFaults[strike.what]!.strike(struck, request, rng);
    }
    return struck;
  }

  #environment({ token }: Sandbox): NodeJS.ProcessEnv {
    const { url, ownerUrl, temporal } = this.#services;
    const { database, folder } = this.#place;
    return {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8', TZ: 'UTC', NO_COLOR: '1' },
      ...{
        PRACTICE_TOKEN: token,
        TEMPORAL_ADDRESS: temporal,
        VETLEDGER_DATA_DIR: folder,
        VETLEDGER_LOG: 'silent',
      },
      ...{ DATABASE_URL: urlOfDatabase(url, database), OWNER_URL: urlOfDatabase(ownerUrl, database) },
      // The start takes half of a command's time, so compiled code is cached.
      NODE_COMPILE_CACHE: join(this.#place.folder, '..', 'compiled'),
    };
  }

  async #run(
    command: string[],
    env: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { root, folder, signal } = this.#place;
    signal.throwIfAborted();
    const config = join(folder, `${this.#isRemapped ? 'second' : 'first'}.yaml`);
    const args = [...quickStart, join(root, 'bin', 'vetledger.js'), ...command, '--config', config];
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let isKilled = false;
    const end = () => child.kill('SIGKILL');
    this.#kill = () => {
      isKilled = true;
      end();
    };
    signal.addEventListener('abort', end, { once: true });
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      end();
    }, limitMs);
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    this.#kill = null;
    signal.throwIfAborted();
    if (isSlow) return { code: -1, stdout: '', stderr: `it did not end within ${limitMs / 1000} s` };
    return { code: isKilled ? null : code, stdout: stdout.join(''), stderr: stderr.join('') };
  }
}

function collect(stream: NodeJS.ReadableStream): string[] {
  const parts: string[] = [];
  stream.setEncoding('utf8').on('data', (part: string) => parts.push(part));
  return parts;
}
