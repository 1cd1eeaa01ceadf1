/** The charset in a header `content-type`, and the encoding in an XML declaration. */
const inHeader = /charset\s*=\s*"?([\w.:-]{1,40})/i;
const inDeclaration = /^(?:\xef\xbb\xbf)?\s{0,20}<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/;
const declarationBytes = 200;

/** The text of an answer, in the encoding that its header or its XML declaration names. UTF-8 if neither names one. */
export function decoded(bytes: Uint8Array, contentType: string | undefined): string {
  const beginning = () => new TextDecoder('latin1').decode(bytes.subarray(0, declarationBytes));
  const label = inHeader.exec(contentType ?? '')?.[1] ?? inDeclaration.exec(beginning())?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch (error) {
    // The label is unknown.
    if (error instanceof RangeError) return new TextDecoder().decode(bytes);
    throw error;
  }
}
