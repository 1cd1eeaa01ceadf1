import type { TimedEvent } from '../../domain/events.ts';
import { visibleIn } from '../../domain/text.ts';
import type { WindowReport } from '../../windows/run-window.ts';
import { instant } from './text.ts';
import { windowLine, windowsDocument } from './window.ts';

/** An event as `run --json` prints it: of a window that ended it holds what `sync --json` has of it. Null: it is not printed. */
export function eventDocument(event: TimedEvent): object | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed': {
      const { time, event: name, report, ...ids } = event;
      return { time, event: name, ...ids, ...windowsDocument([report as WindowReport]).windows[0] };
    }
    case 'delivery':
      // One that neither delivered nor was refused anything comes every few minutes.
      return event.delivered + event.refused === 0 ? null : event;
    default:
      return event;
  }
}

/** An event as one line for people. Null: it is not printed. */
export function eventLine(event: TimedEvent): string | null {
  switch (event.event) {
    case 'window_closed':
    case 'window_failed':
      return windowLine(event.report as WindowReport);
    case 'window_not_opened': {
      const { message, todo } = visibleIn(event.error);
      return `${instant(event.time)}  installation ${event.installation} the window could not be opened | ${message} | what to do: ${todo}`;
    }
    case 'delivery':
      if (event.delivered + event.refused === 0) return null;
      return `installation ${event.installation} delivered ${event.delivered} | ${event.refused} refused, ${event.left} left`;
    default:
      // The log tells of outages; of windows that open, nothing.
      return null;
  }
}
