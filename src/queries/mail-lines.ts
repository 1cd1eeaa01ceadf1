import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { clip } from '../domain/text.ts';
import type { MailLine } from '../mail/notices.ts';
import { invoiceNumbers } from './invoice-numbers.ts';

const longestNumber = 60;

/** The lines with the numbers that are printed on the invoices. */
export async function numbered(
  db: Connection,
  installation: Pick<InstallationConfig, 'id' | 'dialect'>,
  lines: readonly MailLine[],
): Promise<MailLine[]> {
  const invoices = lines.flatMap(({ ref }) => (ref?.kind === 'invoice' ? ref.id : []));
  const numbers = await invoiceNumbers(db, installation, invoices);
  return lines.map((line) => {
    const number = line.ref?.kind === 'invoice' ? numbers.get(line.ref.id) : undefined;
    return number === undefined ? line : { ...line, number: clip(number, longestNumber) };
  });
}
