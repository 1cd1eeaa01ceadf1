import { runDaemon } from '../../windows/daemon.ts';
import type { CommandContext } from '../context.ts';
import { windowLine, windowsDocument } from '../render/window.ts';
import { withApp } from '../with-app.ts';

/** The daemon. With --json each window is one JSON document on a line of its own. */
export function run(context: CommandContext): Promise<number> {
  return withApp(context, { temporal: true, logLevel: 'info', handlesSignal: true }, async (app) => {
    const ids = app.config.installations.map(({ id }) => id).join(', ');
    context.note(
      `vetledger: installations ${ids}, a window every ${app.config.schedule.everySeconds} s; Ctrl-C ends it`,
    );
    if (app.temporal?.uiUrl) context.note(`Temporal UI: ${app.temporal.uiUrl}`);
    await runDaemon(app, {
      signal: context.signal,
      onListening: (url) => context.note(`webhooks: POST ${url}/<installation>/<secret>`),
      onWindow: (window) => {
        const text = context.json ? JSON.stringify(windowsDocument([window]).windows[0]) : windowLine(window);
        context.io.stdout.write(`${text}\n`);
      },
    });
    return 0;
  });
}
