import { type App, chosenInstallations } from '../app.ts';
import { UserError } from '../errors.ts';
import { syncNow, type WindowReport } from '../windows.ts';
import type { CommandContext } from './context.ts';
import { windowBlock } from './window-text.ts';
import { withApp } from './with-app.ts';

interface Run {
  trigger: 'sync' | 'backfill';
  from?: string | null;
}

export function sync(context: CommandContext, options: { installation?: number }): Promise<number> {
  return command(context, options.installation, { trigger: 'sync' });
}

export function backfill(context: CommandContext, options: { installation?: number; from?: string }): Promise<number> {
  return command(context, options.installation, { trigger: 'backfill', from: options.from ?? null });
}

function command(context: CommandContext, installation: number | undefined, run: Run): Promise<number> {
  return withApp(context, { temporal: true, endsItself: true }, async (app) => {
    const chosen = chosenInstallations(app.config, installation).map(({ id }) => id);
    const windows = await runWindows(context, app, chosen, run);
    await context.result(windowsDocument(windows), () => windows.map(windowBlock).join('\n\n'));
    return exitCodeOf(windows);
  });
}

/** Runs a window of each installation; throws UserError (exit code 3) when none could be opened. */
export async function runWindows(context: CommandContext, app: App, installations: number[], run: Run) {
  const progress = progressLines(context);
  const windows = await syncNow(app, { installations, ...run, onProgress: progress.show, signal: context.signal });
  progress.end();
  const [first] = windows;
  if (first?.failedToOpen && windows.every((window) => window.failedToOpen)) {
    const { code, message, todo } = first.failedToOpen;
    throw new UserError(code, message, todo, 3);
  }
  return windows;
}

/** What `sync --json` prints (DESIGN). */
export function windowsDocument(windows: WindowReport[]) {
  return {
    windows: windows.map(({ failedToOpen, ...window }) => (failedToOpen ? { ...window, error: failedToOpen } : window)),
  };
}

export function exitCodeOf(windows: WindowReport[]): number {
  return windows.some((window) => window.outcome === 'failed' || window.failedToOpen) ? 4 : 0;
}

/** Progress on stderr: a terminal sees one line that is written over, anything else a line per step. */
function progressLines(context: CommandContext) {
  const { stderr } = context.io;
  const onTerminal = 'isTTY' in stderr && stderr.isTTY === true;
  let shown = '';
  return {
    show: (progress: { installation: number; step: string; done: number; total: number | null }) => {
      const step = `${progress.installation}: ${progress.step}`;
      if (onTerminal) {
        const total = progress.total === null ? '' : ` of ${progress.total}`;
        stderr.write(`\r\x1b[K${step} ${progress.done}${total}`);
      } else if (step !== shown) {
        context.note(step);
      }
      shown = step;
    },
    end: () => {
      if (onTerminal && shown) stderr.write('\r\x1b[K');
    },
  };
}
