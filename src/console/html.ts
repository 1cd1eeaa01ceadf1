import { createRequire } from 'node:module';

/** A node of a page. Only `html` makes it. */
export interface Node {
  readonly type: unknown;
  readonly props: unknown;
}

// Imported with their types, these packages would declare all globals of a browser for the whole program.
const required = createRequire(import.meta.url);
const preact: { h(type: unknown, props: null, ...children: Node[]): Node; Fragment: unknown } = required('preact');
const htm: { html(parts: TemplateStringsArray, ...values: Content[]): Node | Node[] } = required('htm/preact');
const renderer: { renderToString(node: Node): string } = required('preact-render-to-string');

/**
 * A template of HTML. Values in it become text or attributes and are escaped, so that no text of a record becomes markup.
 * Components are plain functions that return a node, so that TypeScript checks their parameters.
 */
export function html(parts: TemplateStringsArray, ...values: Content[]): Node {
  const made = htm.html(parts, ...values);
  return Array.isArray(made) ? preact.h(preact.Fragment, null, ...made) : made;
}

/** What a template accepts. An object or a function is a mistake, and so is a promise. */
export type Content = Node | string | number | boolean | null | undefined | readonly Content[];

export function pageText(page: Node): string {
  return `<!doctype html>${renderer.renderToString(page)}`;
}

/** The value of an `href`. Only addresses of this console, so that no text of a record becomes a link elsewhere. */
export function local(path: string, query: Record<string, string | number | null | undefined> = {}): string {
  if (!path.startsWith('/') || path.startsWith('//')) throw new Error('a link of the console begins with one slash');
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
