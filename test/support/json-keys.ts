/**
 * Whether Node.js 24 reads a key as it is. Where objects before it had certain other keys, V8's JSON.parse reads a key that is one
 * escaped character as a backslash, now and then: `{"\u0000":1}` as `{"\\":1}`. No record of a practice has such a key.
 */
export function isReadAsItIs(key: string): boolean {
  return key.length !== 1 || JSON.stringify(key).length === 3;
}
