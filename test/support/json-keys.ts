/**
 * True if Node.js 24 reads a key correctly. If earlier objects had certain other keys, V8's JSON.parse sometimes reads
 * a key of one escaped character as a backslash: `{"\u0000":1}` as `{"\\":1}`. No record of a practice has such a key.
 */
export function isReadAsItIs(key: string): boolean {
  return key.length !== 1 || JSON.stringify(key).length === 3;
}
