import { type Content, html, type Node } from '../html.ts';

/** Titles with their contents. Facts without content are left out. Content without a title continues the one above. */
export function facts(pairs: readonly (readonly [title: string, content: Content])[]): Node {
  const given = pairs.filter(([, content]) => content !== null && content !== undefined && content !== '');
  return html`<dl>${given.map(([title, content]) => html`<dt>${title}</dt><dd>${content}</dd>`)}</dl>`;
}

/** Lines of text below each other. */
export function lines(texts: readonly Content[]): Node | null {
  return texts.length === 0 ? null : html`<ul class="lines">${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
}
