import { SaxesParser } from 'saxes';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { FormError } from './form.ts';

/** An element of an answer. Names of elements and attributes are in lower case. */
export interface XmlElement {
  name: string;
  attributes: ReadonlyMap<string, string>;
  elements: XmlElement[];
  /** The text in the element, without the texts of the elements in it. */
  text: string;
}

/** Limits of an answer, besides the bytes that ErpHttp reads. */
const deepest = 30;
const mostElements = 1_000_000;
const longestText = 100_000;

/**
 * Parses an XML document. Throws FormError if it is not well-formed, or beyond the limits. A document type is refused, so
 * `&name;` stands only for the five characters that XML itself names.
 */
export function readXml(text: string): XmlElement {
  const top: XmlElement = { name: '', attributes: new Map(), elements: [], text: '' };
  const open = [top];
  let elements = 0;
  const parser = new SaxesParser();
  const refuse = (reason: string) => {
    throw new FormError(erpAnswerTexts.notXml({ reason }));
  };
  const add = (part: string) => {
    const within = open.at(-1) ?? top;
    within.text += part;
    if (within.text.length > longestText) refuse('text');
  };
  parser.on('error', ({ message }) => refuse(message));
  parser.on('doctype', () => refuse('DOCTYPE'));
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('opentag', ({ name, attributes }) => {
    elements += 1;
    if (open.length > deepest || elements > mostElements) refuse(name);
    const values = Object.entries(attributes).map(([key, value]) => [key.toLowerCase(), value] as const);
    const element: XmlElement = {
      ...{ name: name.toLowerCase(), attributes: new Map(values), elements: [], text: '' },
    };
    open.at(-1)?.elements.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  parser.write(text).close();
  const [root] = top.elements;
  if (root === undefined) throw new FormError(erpAnswerTexts.notXml({ reason: '' }));
  return root;
}

/** The elements of a name in an element. */
export function elementsIn({ elements }: XmlElement, name: string): XmlElement[] {
  return elements.filter((each) => each.name === name);
}

/** The only element of a name. Throws FormError if there is none, or if there are several. */
export function elementIn(element: XmlElement, name: string): XmlElement {
  const [first, ...others] = elementsIn(element, name);
  if (first === undefined || others.length > 0)
    throw new FormError(erpAnswerTexts.expected({ expected: `<${name}>`, got: `<${element.name}>` }));
  return first;
}

/** The text of the only element of a name, without spaces around it. Throws FormError. */
export function textIn(element: XmlElement, name: string): string {
  return elementIn(element, name).text.trim();
}

/** The same; empty if there is no such element. Throws FormError if there are several. */
export function textOrNone(element: XmlElement, name: string): string {
  return elementsIn(element, name).length === 0 ? '' : textIn(element, name);
}

/** An element to send: its name, its content and its attributes. */
export type Xml = readonly [
  name: string,
  content: string | readonly Xml[],
  attributes?: Readonly<Record<string, string>>,
];

/** The element as text, without a declaration. */
export function writeXml([name, content, attributes = {}]: Xml): string {
  const start = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escaped(value)}"`)].join(' ');
  return `<${start}>${typeof content === 'string' ? escaped(content) : content.map(writeXml).join('')}</${name}>`;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML allows no control characters, so they become spaces. */
function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}
