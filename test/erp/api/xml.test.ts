import { describe, expect, test } from 'vitest';
import { FormError } from '../../../src/erp/targets/api/form.ts';
import { elementIn, elementsIn, readXml, textIn, textOrNone, writeXml } from '../../../src/erp/targets/api/xml.ts';

describe('an answer', () => {
  test('is read with its texts and attributes; names are in lower case', () => {
    const root = readXml(
      '<?xml version="1.0"?>\n<Root><A Of="x&lt;"> 1 &amp; &#228; </A><A/><!-- no --><B><![CDATA[<c>]]></B></Root>',
    );
    expect(elementsIn(root, 'a').map(({ text, attributes }) => [text, attributes.get('of')])).toEqual([
      [' 1 & ä ', 'x<'],
      ['', undefined],
    ]);
    expect(textIn(root, 'b')).toBe('<c>');
    expect(textOrNone(root, 'c')).toBe('');
    expect(() => textIn(root, 'c')).toThrow(FormError);
    expect(() => elementIn(root, 'a')).toThrow(FormError);
  });

  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
  test.each([
    ['a billion laughs', `<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]><r>&l9;</r>`],
    ['a file of the machine', '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/passwd">]><r>&f;</r>'],
    ['a document type alone', '<!DOCTYPE r><r/>'],
    ['an unknown name', '<r>&nbsp;</r>'],
    ['deep nesting', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`],
    ['a huge text', `<r>${'x'.repeat(2_000_000)}</r>`],
    ['too many elements', `<r>${'<a/>'.repeat(1_000_001)}</r>`],
    ['half of a document', '<Root><ResponseStatus><Status>OK</Status>'],
    ['two roots', '<a/><b/>'],
    ['a page', '<html><br></html>'],
    ['nothing', ''],
    ['a text', 'Service Unavailable'],
  ])('with %s is refused', (_, text) => expect(() => readXml(text)).toThrow(FormError));
});

test('a document is written with its marks escaped, and read again', () => {
  const text = 'Musti & "Rex" <3\u0007 ä €';
  const written = writeXml([
    'root',
    [
      ['a', text, { of: '"<' }],
      ['b', []],
    ],
  ]);
  expect(written).toBe('<root><a of="&quot;&lt;">Musti &amp; &quot;Rex&quot; &lt;3  ä €</a><b></b></root>');
  expect(textIn(readXml(written), 'a')).toBe('Musti & "Rex" <3  ä €');
});
