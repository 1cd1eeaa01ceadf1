import { catalogue } from '../catalogue.ts';
import type { PlainError } from '../plain-error.ts';

const twoDatabases = 'docs/operators/delivery.md, "Two databases, one company", explains what this command does.';

/** Errors of batches: the files that are handed over to the accountants. */
export const batchErrors = catalogue('errors/batches.batchErrors', {
  unknownButInFolder: ({ batch }: { batch: string }): PlainError => ({
    code: 'batch_unknown',
    message: `The file of batch ${batch} is in the folder, but this database does not know it: the database was restored from an earlier backup.`,
    todo: 'Run `vetledger deliver resume` if the delivery is paused. The delivery then records the batches in the folder, and does not write them again. Then acknowledge the batch.',
  }),
  unknown: ({ batch }: { batch: string }): PlainError => ({
    code: 'batch_unknown',
    message: `There is no batch ${batch}.`,
    todo: 'Use the name of the file and its manifest, such as 4711-000001.',
  }),
  notWrittenYet: ({ batch }: { batch: string }): PlainError => ({
    code: 'batch_not_written',
    message: `Batch ${batch} is not written yet.`,
    todo: 'Wait for the next delivery; `vetledger status` shows what the delivery waits for.',
  }),
  fileTaken: ({ file }: { file: string }): PlainError => ({
    code: 'batch_file_taken',
    message: `The file ${file} already exists with other content, so the batch of that number cannot be written.`,
    todo: 'Find out which program wrote the file. If its entries were not imported, move it away. Otherwise set erp.folder of the installation to another folder.',
  }),
  missing: ({ batch, folder }: { batch: string; folder: string }): PlainError => ({
    code: 'batch_missing',
    message: `Batch ${batch} is not in ${folder}, but later batches are: the database was restored from an earlier backup.`,
    todo: 'Put the files and manifests of all batches since the backup back into the folder, including imported ones. The delivery then records them, and hands nothing over twice.',
  }),
  notWritable: ({ path, reason }: { path: string; reason: string }): PlainError => ({
    code: 'batch_not_written',
    message: `A batch cannot be written: ${path} (${reason}).`,
    todo: 'Make the folder writable, or free space on its disk. vetledger then writes the same batch automatically.',
  }),
  folderForeign: ({
    folder,
    installation,
    claim,
    prefix,
  }: {
    folder: string;
    installation: number;
    claim: string;
    prefix: string;
  }): PlainError => ({
    code: 'erp_company_foreign',
    message: `Another database of vetledger uses the folder ${folder} for installation ${installation}: the file ${claim} names keys that begin with ${prefix}.`,
    todo: `Find out which vetledger writes into this folder. Stop it, or name another folder in \`erp.folder\`. If this database is to deliver, run \`vetledger adopt --installation ${installation} --reason TEXT\`; ${twoDatabases}`,
  }),
  claimUnreadable: ({ file, installation }: { file: string; installation: number }): PlainError => ({
    code: 'erp_company_foreign',
    message: `The file ${file} cannot be read. It records which database hands over which installation.`,
    todo: `Restore the file. If only this database writes into the folder, run \`vetledger adopt --installation ${installation} --reason TEXT\`, which writes the file again.`,
  }),
});

/** Parts of the errors above. */
export const batchTexts = catalogue('errors/batches.batchTexts', {
  folder: 'the folder of the batches',
  unknownError: 'unknown error',
});
