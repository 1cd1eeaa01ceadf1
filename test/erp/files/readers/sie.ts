// Reads SIE 4I by the rules of the format, independently of the writer: one item per line, with a label and fields
// between blanks or tabs. Fields may be in quotation marks, where `\\"` stands for one. Lists of objects are in braces.
// Text is in code page 437.

import type { ReadEntry } from './entry.ts';

/** The code points of the codes 128 to 255, from the Unicode consortium's table of code page 437. */
export const codePoints = [
  '00c7 00fc 00e9 00e2 00e4 00e0 00e5 00e7 00ea 00eb 00e8 00ef 00ee 00ec 00c4 00c5 ',
  '00c9 00e6 00c6 00f4 00f6 00f2 00fb 00f9 00ff 00d6 00dc 00a2 00a3 00a5 20a7 0192 ',
  '00e1 00ed 00f3 00fa 00f1 00d1 00aa 00ba 00bf 2310 00ac 00bd 00bc 00a1 00ab 00bb ',
  '2591 2592 2593 2502 2524 2561 2562 2556 2555 2563 2551 2557 255d 255c 255b 2510 ',
  '2514 2534 252c 251c 2500 253c 255e 255f 255a 2554 2569 2566 2560 2550 256c 2567 ',
  '2568 2564 2565 2559 2558 2552 2553 256b 256a 2518 250c 2588 2584 258c 2590 2580 ',
  '03b1 00df 0393 03c0 03a3 03c3 00b5 03c4 03a6 0398 03a9 03b4 221e 03c6 03b5 2229 ',
  '2261 00b1 2265 2264 2320 2321 00f7 2248 00b0 2219 00b7 221a 207f 00b2 25a0 00a0',
]
  .join('')
  .trim()
  .split(' ')
  .map((hex) => Number.parseInt(hex, 16));

export interface SieFile {
  /** For each label, the fields of its items in order. */
  items: Map<string, string[][]>;
  vouchers: (ReadEntry & { series: string; number: string; title: string; objects: string[][] })[];
}

export function readSie(bytes: Uint8Array): SieFile {
  const text = Array.from(bytes, (code) => String.fromCodePoint(code < 128 ? code : codePoints[code - 128]!)).join('');
  if (!text.endsWith('\r\n')) throw new Error('the last line does not end');
  const items = new Map<string, string[][]>();
  const vouchers: SieFile['vouchers'] = [];
  let open: SieFile['vouchers'][number] | null = null;
  let isInside = false;
  for (const [index, line] of text.slice(0, -2).split('\r\n').entries()) {
    if (/[^\P{Cc}\t]/u.test(line)) throw new Error(`line ${index + 1} has a control character`);
    if (line === '{') {
      if (open === null || isInside) throw new Error(`line ${index + 1} opens nothing`);
      isInside = true;
      continue;
    }
    if (line === '}') {
      if (open === null || !isInside) throw new Error(`line ${index + 1} closes nothing`);
      vouchers.push(open);
      open = null;
      isInside = false;
      continue;
    }
    const [label, ...fields] = fieldsOf(line);
    if (label === undefined || !label.startsWith('#')) throw new Error(`line ${index + 1} has no label`);
    if (index === 0 && label !== '#FLAGGA') throw new Error('a file begins with #FLAGGA');
    if (label === '#TRANS') {
      if (open === null || !isInside) throw new Error('a #TRANS outside of a voucher');
      const [account, objects, amount, date, description] = fields;
      if (!/^\d+$/.test(account!)) throw new Error(`account ${account}`);
      if (!/^-?\d+(\.\d{1,2})?$/.test(amount!)) throw new Error(`amount ${amount}`);
      if (date !== open.date.replaceAll('-', '')) throw new Error(`date ${date}`);
      open.lines.push({ account: account!, amount: amount!, description: description! });
      open.objects.push(fieldsOf(objects!.slice(1, -1)));
    } else if (label === '#VER') {
      if (open !== null) throw new Error('a voucher in a voucher');
      const [series, number, date, title] = fields;
      const [unit] = title!.split(' ');
      open = {
        ...{
          series: series!,
          number: number!,
          title: title!,
          unit: unit!,
          key: title!.split(' ').at(-1)!,
          objects: [],
        },
        ...{ date: date!.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'), lines: [] },
      };
    } else {
      if (vouchers.length > 0) throw new Error(`${label} after the first voucher`);
      items.set(label, [...(items.get(label) ?? []), fields]);
    }
  }
  if (open !== null) throw new Error('a voucher does not end');
  return { items, vouchers };
}

/** The fields of a line. A list of objects keeps its braces. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at < line.length) {
    const character = line[at]!;
    if (character === ' ' || character === '\t') {
      at += 1;
    } else if (character === '"') {
      let field = '';
      for (at += 1; line[at] !== '"'; at += 1) {
        if (at >= line.length) throw new Error(`a field does not end: ${line}`);
        if (line[at] === '\\' && line[at + 1] === '"') at += 1;
        field += line[at];
      }
      at += 1;
      fields.push(field);
    } else if (character === '{') {
      const end = line.indexOf('}', at);
      if (end < 0) throw new Error(`a list does not end: ${line}`);
      fields.push(line.slice(at, end + 1));
      at = end + 1;
    } else {
      const end = /[ \t]|$/.exec(line.slice(at))!.index + at;
      fields.push(line.slice(at, end));
      at = end;
    }
  }
  return fields;
}
