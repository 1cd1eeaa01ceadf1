import type { Node } from '../../html.ts';

/** What the page of an action shows of the request, and the address of its form. */
export interface ShownRequest {
  form: string;
  view?(): Node;
}
