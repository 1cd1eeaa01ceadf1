// The part of pdfmake that we use. Its published types bring in those of browsers for the whole program.
declare module 'pdfmake' {
  /** A text, a table or a paragraph, as pdfmake documents it. */
  export type Content = string | { readonly [property: string]: unknown };

  interface DocumentDefinition {
    pageSize: 'A4';
    pageOrientation: 'landscape';
    pageMargins: readonly [left: number, top: number, right: number, bottom: number];
    content: readonly Content[];
    info: { title: string; creationDate: Date; modDate: Date };
    defaultStyle: Content;
    styles: Readonly<Record<string, Content>>;
    header(): Content;
    footer(page: number, pages: number): Content;
  }

  const pdfmake: {
    setFonts(fonts: Readonly<Record<string, Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>>): void;
    setLocalAccessPolicy(allows: (path: string) => boolean): void;
    setUrlAccessPolicy(allows: (url: string) => boolean): void;
    createPdf(document: DocumentDefinition): { getBuffer(): Promise<Buffer> };
  };
  export default pdfmake;
}
