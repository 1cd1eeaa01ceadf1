import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

/** Errors of `vetledger remove-data`. */
export const dataFolderErrors = catalogue('errors/data-folder.dataFolderErrors', {
  missing: ({ path }: { path: string }): PlainError => ({
    code: 'data_folder_unknown',
    message: `There is no folder ${path}.`,
    todo: 'Name the data folder.',
  }),
  notOurs: ({ path }: { path: string }): PlainError => ({
    code: 'data_folder_unknown',
    message: `${path} is not a data folder of vetledger.`,
    todo: 'Name the data folder (data_dir).',
  }),
  shared: ({ path, names, more, count }: { path: string; names: string; more: number; count: number }): PlainError => ({
    code: 'data_folder_shared',
    message: `${path} contains files that vetledger did not write: ${names}${more > 0 ? ' and more' : ''}. Nothing was removed.`,
    todo: `Move ${count === 1 ? 'it' : 'them'} to another folder, and run the command again.`,
  }),
  inUse: ({ processes, count, folder }: { processes: string; count: number; folder: string }): PlainError => ({
    code: 'data_folder_in_use',
    message: `${count === 1 ? 'Process' : 'Processes'} ${processes} of vetledger ${count === 1 ? 'uses' : 'use'} ${folder}. Nothing was removed.`,
    todo: `Stop ${count === 1 ? 'it' : 'them'} (Ctrl-C, or kill with the number), and run the command again.`,
  }),
  hasErpFiles: ({ folder, files }: { folder: string; files: string }): PlainError => ({
    code: 'data_folder_has_books',
    message: `${folder} contains files for an ERP (${files}). Nothing was removed.`,
    todo: 'Copy them to another place, and add --with-books to remove them.',
  }),
  unreadable: ({ folder, reason }: { folder: string; reason: string }): PlainError => ({
    code: 'data_folder_unreadable',
    message: `The books in ${folder} could not be read: ${reason}`,
    todo: 'If you need nothing in it, add --with-books.',
  }),
  hasBooks: ({ folder, books }: { folder: string; books: string }): PlainError => ({
    code: 'data_folder_has_books',
    message: `${folder} contains books of a practice API on another machine: ${books}. Nothing was removed.`,
    todo: 'Export what you need (`vetledger export`), and add --with-books to remove the books for good. Entries in an ERP and values that were written back stay there.',
  }),
});
