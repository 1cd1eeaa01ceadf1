import { localTimeOf } from '../domain/dates.ts';
import type { Line } from '../domain/entry.ts';
import { formatMoney } from '../domain/money.ts';
import { meaningOfCheck, sentenceOf } from '../domain/problem-texts.ts';
import { shown } from '../languages/language.ts';
import { paymentTypeName } from '../mapping/payment-types.ts';
import { explainTexts } from '../texts/commands/explain.ts';
import { codeWords, labels } from '../texts/commands/labels.ts';
import { countTexts } from '../texts/counts.ts';

/** Formats a time; `timeIn` as a clock shows it. */
export type TimeText = (time: Date | string | null) => string;

/** Formats times as the clock of a time zone shows them, with the offset. */
export function timeIn(timezone: string): TimeText {
  return (time) => (time === null ? '-' : localTimeOf(new Date(time), timezone));
}

/** A code in words; English shows the code, and so does every language for a code that users type. */
export function codeWord(code: string): string {
  return Object.hasOwn(codeWords, code) ? codeWords[code as keyof typeof codeWords] : code;
}

/** A code in words, without underscores in any language. */
export function inWords(code: string): string {
  return codeWord(code).replaceAll('_', ' ');
}

/** The sentence of a problem or remark. The code in words, if this release has no sentence. */
export function codeSentence(code: string): string {
  return shown(sentenceOf(code)) || inWords(code);
}

/** Failed checks of the books with what each of them proves, such as `E1 (does NOT hold: the trial balance is zero)`. */
export function checksInWords(names: readonly string[]): string {
  return names
    .map((name) => {
      const meaning = meaningOfCheck(name);
      return meaning === '' ? name : labels.failedCheck({ name, meaning });
    })
    .join(', ');
}

/** A payment type in words. */
export function typeName(type: number | null): string {
  return type === null ? explainTexts.noPaymentType : paymentTypeName(type);
}

/** The tags of a line other than account, amount and party (ACCOUNTING "Who and where"). */
export function carries(
  line: Pick<Line, 'dimensions' | 'internal' | 'vat' | 'paymentType'> &
    Partial<Pick<Line, 'departmentId' | 'documentNumber' | 'dueDate' | 'bankReference'>>,
  decimals: number,
): string {
  const { departmentId = null, documentNumber = null, dueDate = null, bankReference = null } = line;
  const { dimensions, internal, vat, paymentType } = line;
  const tags = [...dimensions, internal.account, internal.dimension1, internal.dimension2].filter(
    (tag) => tag !== null,
  );
  const parts = [
    departmentId === null ? null : labels.department({ department: departmentId }),
    tags.length === 0 ? null : tags.join(' / '),
    vat && labels.groupAt({ group: vat.group ?? labels.noGroup, rate: vat.rate?.toFixed() ?? '-' }),
    vat?.base ? labels.base({ amount: formatMoney(vat.base, decimals) }) : null,
    paymentType === null ? null : typeName(paymentType),
    documentNumber && labels.document({ number: documentNumber }),
    dueDate && labels.due({ date: dueDate }),
    bankReference && labels.reference({ reference: bankReference }),
  ];
  return parts.filter((part) => part !== null).join(', ');
}

/** A duration: `45 s`, `12 min`, `3 h 05 min`, `2 d 4 h`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `3 invoices`, `1 invoice`. */
export function count(n: number, what: keyof typeof countTexts): string {
  return countTexts[what]({ n });
}

/** A line of a block: its title, which is empty for a further line of the same thing, and its text. */
export type Field = readonly [title: string, text: string];
