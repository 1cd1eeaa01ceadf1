import { Writable } from 'node:stream';

/** Levels of the log, as its lines have them. */
const levels = { info: 30, warn: 40 };

/**
 * A stream for the notes of a command with --json: each text is written to `out` as a line of the log is, so that a collector reads all of
 * stderr as JSON. What ends with a line end is one note, also where it has several lines.
 */
export function jsonNotes(out: NodeJS.WritableStream, nowMs: () => number = Date.now): Writable {
  let text = '';
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      text += chunk.toString();
      if (text.endsWith('\n')) {
        const msg = text.trim();
        const level = msg.startsWith('warning: ') ? levels.warn : levels.info;
        if (msg !== '') out.write(`${JSON.stringify({ level, time: nowMs(), msg })}\n`);
        text = '';
      }
      done();
    },
  });
}
