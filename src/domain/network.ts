/**
 * The network that a limit of attempts counts: an IPv4 address, or the first 64 bits of an IPv6 address, because one subscriber has all
 * addresses of such a network. Another text stays as it is.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%');
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain) ?? [];
  if (mapped !== undefined) return mapped;
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*$/.test(plain)) return address;
  const [head = '', tail] = plain.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  // An IPv4 address at the end counts as two groups.
  const left = 8 - before.length - after.length - (plain.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, left)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
