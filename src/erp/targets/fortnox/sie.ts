import { parseMoney } from '../../../domain/money.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { decode } from '../../code-pages.ts';
import type { FoundEntry, FoundLine } from '../../erp-entry.ts';
import { ErpError } from '../../port.ts';
import { wholeNumber } from '../api/form.ts';
import type { DimensionField } from './codes.ts';
import { foundLine, foundVoucher } from './vouchers.ts';
import type { FinancialYear } from './years.ts';

/** Dimensions that SIE reserves. */
const dimensions: Record<string, DimensionField> = { 1: 'CostCenter', 6: 'Project' };

/** A field in quotation marks, a list of objects in braces, or a plain field. */
const field = /"((?:\\"|[^"])*)"|\{([^}]*)\}|([^\s{}"]+)/g;

/**
 * The vouchers of a financial year in a SIE 4 file, whose bytes are the characters of `file`. Throws ErpError `unsent`
 * if the file is of another year, or incomplete.
 */
export function* vouchersIn(file: string, year: FinancialYear): Generator<FoundEntry> {
  let open: { series: string; number: number; date: string; text: string; lines: FoundLine[] } | null = null;
  let isOfYear = false;
  for (const line of decode(file, 'cp437').split(/\r?\n/)) {
    if (line.trim() === '}') {
      if (open === null) throw incomplete('}');
      const { series, number, ...facts } = open;
      yield foundVoucher({ series, number, year: year.id }, year, facts);
      open = null;
      continue;
    }
    const [label = '', ...fields] = fieldsOf(line);
    if (label === '#RAR' && fields[0] === '0')
      isOfYear = fields[1] === compact(year.from) && fields[2] === compact(year.through);
    // `#RTRANS` repeats a row that was added later, and `#BTRANS` is one that was removed.
    if (label === '#TRANS') {
      if (open === null) throw incomplete(label);
      open.lines.push(lineOf(fields));
    } else if (label === '#VER') {
      if (open !== null || !isOfYear) throw incomplete(label);
      const [series = '', number = '', date = '', text = ''] = fields;
      open = { series, number: wholeNumber(number), date: written(date), text, lines: [] };
    }
  }
  if (open !== null || !isOfYear) throw incomplete('#RAR');
}

function fieldsOf(line: string): string[] {
  return [...line.matchAll(field)].map(
    ([, quoted, list, plain]) => quoted?.replaceAll('\\"', '"') ?? list ?? plain ?? '',
  );
}

function lineOf([account = '', objects = '', digits = '']: string[]): FoundLine {
  const amount = parseMoney(digits);
  if (amount === null) throw incomplete('#TRANS');
  const named = fieldsOf(objects);
  const values: Partial<Record<DimensionField, string>> = {};
  for (let at = 0; at + 1 < named.length; at += 2) {
    const theirs = dimensions[named[at] ?? ''];
    if (theirs !== undefined) values[theirs] = named[at + 1] ?? '';
  }
  return foundLine(account, amount, values);
}

function incomplete(at: string): ErpError {
  return new ErpError('unsent', erpAnswerTexts.wrongForm({ reason: erpAnswerTexts.sieIncomplete({ at }) }));
}

const compact = (date: string) => date.replaceAll('-', '');
const written = (date: string) => date.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3');
