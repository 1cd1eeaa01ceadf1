/** This file is not a catalogue, because the page is English in every installation, for auditors. */
export const binderReadme = {
  /** `README.txt` of a closing binder. It must be enough for a reader without vetledger. */
  whole: (of: {
    title: string;
    header: string;
    warning: string | null;
    facts: string;
    files: string;
    hash: string;
    link: number;
    isSealed: boolean;
    /** The values of the hashed texts, a line each. */
    ofEntry: string;
    ofLine: string;
    ofClose: string;
    /** A program in Python that checks files like chain.txt. */
    program: string;
  }): string => `${of.title}
${of.header}
${of.warning === null ? '' : `\n${of.warning}\n`}
${of.facts}

These files show the month as it was recorded at this close. Entries that were recorded later are not in them.
Names of accounts are those of today, and names of clients that were erased since are missing. Amounts never change.

FILES

${of.files}

CSV files are UTF-8 with commas, decimal points and a heading (RFC 4180). Each has one table and no sums, so you can add up a column.
An apostrophe before =, +, - or @ keeps spreadsheets from reading a text as a formula.

CHECK THE FILES

    sha256sum -c checksums.txt

CHECK THE HASH CHAIN

Each entry, close and reopening is a link of one chain. A line of chain.txt has four fields with tabs between them: place in the chain,
hash of the link before, hash of the link, text of the link. For each line:

    hash of the link = SHA-256 of: hash of the link before, line feed, text

All are UTF-8. Hashes have 64 hexadecimal digits. The first link of all has 64 zeros as the hash before it. This is the link of the close:

    ${of.link}  ${of.hash}

A changed earlier entry would change this hash. Compare it with the copy that you keep elsewhere.
The links between are in the binders of other months. Give the chain.txt of several months to the program to check them together.

The text of an entry is JSON, with these values in their order:

${of.ofEntry}

Each of its lines has these values:

${of.ofLine}

The text of a close has these values, with blanks between them. close.json has the details of this close.

${of.ofClose}

Save these lines as verify.py and run: python3 verify.py chain.txt

-----
${of.program}-----

CHECK THE SEAL

${
  of.isSealed
    ? `seal.txt has the text that was signed: the head of the books with the hash above. seal-public.pem is the public key of the clinic.
Take it from a place that the makers of this binder cannot change.

    openssl pkeyutl -verify -pubin -inkey seal-public.pem -rawin -in seal.txt -sigfile seal.sig
`
    : 'The close has no seal, because no key was configured. Only a copy of the hash above, kept elsewhere, shows a change.\n'
}`,
};
