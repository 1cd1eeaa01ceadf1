import type { Sie4Options } from '../../../config/file-options.ts';
import { signed } from '../../../domain/entry.ts';
import { formatMoney } from '../../../domain/money.ts';
import type { CalendarDate } from '../../../terms.ts';
import { fileFormatFindings } from '../../../texts/findings/file-formats.ts';
import { encode, fieldText, plainText } from '../../code-pages.ts';
import type { ErpProblem } from '../../port.ts';
import type { FileEntry, FileLine } from './file-entry.ts';
import { type BatchFacts, batchCode, type FileFormat, type FileValues, type FileWriter, wordsOf } from './format.ts';

/** Dimension names that the format reserves. */
const reservedNames: Record<string, string> = {
  ...{ 1: 'Kostnadsställe', 2: 'Kostnadsbärare', 6: 'Projekt', 7: 'Anställd', 8: 'Kund', 9: 'Leverantör' },
  10: 'Faktura',
};
const page = 'cp437';
const decimals = 2;
const longestText = 200;
const longestObject = 60;

/** SIE 4I: vouchers for import. The importing program numbers them. The format requires code page 437. */
export function sie4Format(options: Sie4Options): FileFormat {
  return {
    periodOf: () => '',
    daysOf: () => null,
    fileName: (batch) => `${batchCode(batch)}.si`,
    maxRows: Number.MAX_SAFE_INTEGER,
    problemsOf,
    begin: () => new Sie4Writer(options),
  };
}

type Objects = Map<string, Map<string, string>>;

class Sie4Writer implements FileWriter {
  readonly #options: Sie4Options;
  /** Account → role of its first line, which becomes the account's name. */
  readonly #accounts = new Map<string, string>();
  /** Dimension → object → name. */
  readonly #objects: Objects = new Map();

  constructor(options: Sie4Options) {
    this.#options = options;
  }

  entry(entry: FileEntry): ReturnType<FileWriter['entry']> {
    const problems = problemsOf(wordsOf(entry));
    if (problems.length > 0) return { problems };
    const date = compact(entry.date);
    const number = entry.documentDate === null ? [entry.reference ?? ''] : [];
    const title = [entry.unitId, ...number, entry.description, entry.key].join(' ');
    // The voucher number stays empty, because the importing program sets it.
    const rows = [item('#VER', text(entry.journal), text(''), date, text(title)), '{'];
    for (const line of entry.lines) {
      if (!this.#accounts.has(line.account)) this.#accounts.set(line.account, line.role.replaceAll('_', ' '));
      const objects = this.#objectsOf(line).map(([dimension, code]) => `${dimension} ${text(code)}`);
      const amount = formatMoney(signed(line), decimals);
      rows.push(item('#TRANS', line.account, `{${objects.join(' ')}}`, amount, date, text(line.description)));
    }
    rows.push('}');
    return {
      bytes: encode(joined(rows), page),
      rows: entry.lines.length,
      posted: entry.lines.map((line) => ({ account: line.account, amount: signed(line) })),
    };
  }

  head({ createdAt, currency }: BatchFacts): Uint8Array {
    const { companyName, organisationNumber, declareAccounts } = this.#options;
    const accounts = [...this.#accounts].sort(byCode).map(([account, name]) => item('#KONTO', account, text(name)));
    const dimensions = [...this.#objects].sort(byCode);
    return encode(
      joined([
        item('#FLAGGA', '0'),
        item('#PROGRAM', text('vetledger'), '1'),
        item('#FORMAT', 'PC8'),
        item('#GEN', compact(createdAt.toISOString())),
        item('#SIETYP', '4'),
        ...(organisationNumber === null ? [] : [item('#ORGNR', withHyphen(organisationNumber))]),
        item('#FNAMN', text(companyName)),
        item('#VALUTA', currency),
        ...(declareAccounts ? accounts : []),
        ...dimensions.map(([dimension]) =>
          item('#DIM', dimension, text(reservedNames[dimension] ?? `Dimension ${dimension}`)),
        ),
        ...dimensions.flatMap(([dimension, objects]) =>
          [...objects].sort(byCode).map(([code, name]) => item('#OBJEKT', dimension, text(code), text(name))),
        ),
      ]),
      page,
    );
  }

  #objectsOf(line: FileLine): [dimension: string, code: string][] {
    const { customerDimension } = this.#options;
    const { code, name } = line.party;
    const named = Object.entries(line.dimensions).map(([dimension, value]) => ({ dimension, value, name: value }));
    if (customerDimension !== null && code !== null) {
      named.push({ dimension: customerDimension, value: code, name: name ?? code });
    }
    return named.map(({ dimension, value, name: called }) => {
      const objects = this.#objects.get(dimension) ?? new Map<string, string>();
      this.#objects.set(dimension, objects);
      const object = safeText(value, longestObject);
      if (!objects.has(object)) objects.set(object, called);
      return [dimension, object];
    });
  }
}

function problemsOf({ accounts, dimensions }: FileValues): ErpProblem[] {
  const wrongAccounts = accounts.filter(({ account }) => !/^\d{1,9}$/.test(account));
  const wrongNames = dimensions.filter(({ theirs }) => !/^[1-9]\d{0,3}$/.test(theirs));
  // Changed values are refused, because two values could become equal.
  const wrongValues = dimensions.flatMap(({ values }) =>
    values.filter((value) => safeText(value, longestObject) !== value),
  );
  return [
    ...wrongAccounts.map(({ account }) => ({
      code: 'erp_account_unknown',
      message: fileFormatFindings.digitsOnly({ format: 'SIE 4', account: plainText(account, 50) }),
    })),
    ...wrongNames.map(({ theirs }) => ({
      code: 'erp_dimension_unknown',
      message: fileFormatFindings.dimensionNumber({ name: plainText(theirs, 50) }),
    })),
    ...wrongValues.map((value) => ({
      code: 'erp_dimension_unknown',
      message: fileFormatFindings.dimensionValue({ value: plainText(value, 50) }),
    })),
  ];
}

function item(label: string, ...fields: string[]): string {
  return [label, ...fields].join(' ');
}

function joined(rows: readonly string[]): string {
  return rows.map((row) => `${row}\r\n`).join('');
}

/** A field in quotation marks. */
function text(value: string): string {
  return `"${safeText(value, longestText).replaceAll('"', '\\"')}"`;
}

/**
 * The text without backslashes and braces. The format can only escape quotation marks, and many programs read braces as
 * lists of objects.
 */
function safeText(value: string, longest: number): string {
  const text = fieldText(value, page, longest);
  return text.replaceAll('\\', '/').replaceAll('{', '(').replaceAll('}', ')');
}

function withHyphen(organisationNumber: string): string {
  return organisationNumber.replace(/^(\d{6})-?/, '$1-');
}

function compact(date: CalendarDate): string {
  return date.slice(0, 10).replaceAll('-', '');
}

function byCode([a]: [string, unknown], [b]: [string, unknown]): number {
  return a.length === b.length ? (a < b ? -1 : 1) : a.length < b.length ? -1 : 1;
}
