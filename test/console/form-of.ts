/** The fields of the form of a page that asks for an action, without the token of the session. Null if the page has none. */
export function formOf(body: string): Record<string, string> | null {
  const [content] = /<form method="post" action="\/\d+\/actions[\s\S]*?<\/form>/.exec(body) ?? [];
  if (content === undefined) return null;
  const fields = [...content.matchAll(/<input [^>]*?name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')],
  );
  return Object.fromEntries(fields.filter(([name]) => name !== 'csrf'));
}
