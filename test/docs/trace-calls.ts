import { Session } from 'node:inspector';

/** A recorded call: the function's name, and the functions that awaited it, innermost first. */
export interface Call {
  name: string;
  stack: string[];
}

export interface TracedFunction {
  name: string;
  /** The path in the repository. */
  file: string;
}

interface Trace {
  calls: Call[];
  stop(): void;
}

/**
 * Records each call of these functions from now on, with breakpoints of the debugger whose conditions record the call
 * and never stop. Throws if a file is not loaded or lacks the function.
 */
export function traceCalls(functions: readonly TracedFunction[]): Trace {
  const calls: Call[] = [];
  const note = (name: string) => {
    const frames = (new Error().stack ?? '').split('\n').slice(3);
    calls.push({ name, stack: frames.map((frame) => frame.trim().replace(/^at /, '')) });
    return false;
  };
  Object.assign(globalThis, { noteCall: note });
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 200;
  const session = new Session();
  const scripts: { scriptId: string; url: string }[] = [];
  session.on('Debugger.scriptParsed', ({ params }) => scripts.push(params));
  session.connect();
  session.post('Debugger.enable');
  for (const { name, file } of functions) breakAt(session, scripts, name, file);
  return {
    calls,
    stop: () => {
      session.disconnect();
      Error.stackTraceLimit = limit;
    },
  };
}

function breakAt(session: Session, scripts: readonly { scriptId: string; url: string }[], name: string, file: string) {
  const loaded = scripts.filter(({ url }) => url.endsWith(`/${file}`));
  if (loaded.length === 0) throw new Error(`${file} is not loaded`);
  let isSet = false;
  for (const { scriptId } of loaded) {
    session.post('Debugger.getScriptSource', { scriptId }, (_, { scriptSource }) => {
      const at = bodyOf(scriptSource, name);
      if (at === null) return;
      const before = scriptSource.slice(0, at).split('\n');
      const location = { scriptId, lineNumber: before.length - 1, columnNumber: before.at(-1)!.length };
      const condition = `noteCall(${JSON.stringify(name)})`;
      session.post('Debugger.setBreakpoint', { location, condition }, (error) => {
        isSet ||= error === null;
      });
    });
  }
  if (!isSet) throw new Error(`${file} has no function ${name}`);
}

/** The position at which the body of a function or method begins; null if it has none. */
function bodyOf(source: string, name: string): number | null {
  const found = new RegExp(`^\\s*(?:export )?(?:async )?(?:function\\*? )?${name}(?:<[^>]*>)?\\(`, 'm').exec(source);
  if (!found) return null;
  let depth = 0;
  for (let at = found.index + found[0].length - 1; at < source.length; at++) {
    if ('([{'.includes(source[at]!)) depth++;
    else if (')]}'.includes(source[at]!)) depth--;
    if (depth === 0) return source.indexOf('{', at) + 1;
  }
  return null;
}
