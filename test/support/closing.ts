// Closes and reopenings of several installations, without a checklist.
import type { Db } from '../../src/db/pool.ts';
import {
  type BooksToClose,
  type CloseDetails,
  type CloseOptions,
  changeInOrder,
  closeBooks,
  reopenBooks,
} from '../../src/ledger/close.ts';

export const closePeriods = (db: Db, books: readonly BooksToClose[], through: string, options: CloseOptions = {}) =>
  changeInOrder(db, books, (trx, each) => closeBooks(trx, each, through, options));

export const reopenPeriods = (db: Db, ids: readonly number[], from: string, details: CloseDetails) =>
  changeInOrder(
    db,
    ids.map((id) => ({ id })),
    (trx, { id }) => reopenBooks(trx, id, from, details),
  );
