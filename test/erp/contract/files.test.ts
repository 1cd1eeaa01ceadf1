import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { FileOptions } from '../../../src/config/file-options.ts';
import { Money } from '../../../src/domain/money.ts';
import { fileCapabilities } from '../../../src/erp/targets/files/capabilities.ts';
import { claimName } from '../../../src/erp/targets/files/folder-claim.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import { SimulatedDatabase, simulateClock } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import { useDatabase } from '../../support/database.ts';
import { entriesOfCsv, readCsvFile } from '../files/readers/csv.ts';
import { entriesOfDatev, readDatev } from '../files/readers/datev.ts';
import type { ReadEntry } from '../files/readers/entry.ts';
import { readSie } from '../files/readers/sie.ts';
import type { ContractSubject } from './cases.ts';
import { newCompany } from './fake.ts';
import { contractSuite } from './suite.ts';
import { Troubles } from './troubled.ts';

const { owner, url } = useDatabase();
const simulated = new SimulatedDatabase(url);
const root = mkdtempSync(join(tmpdir(), 'vetledger-contract-'));
beforeAll(() => simulateClock(owner));
afterAll(async () => {
  await simulated.close();
  rmSync(root, { recursive: true, force: true });
});

const batches = 'at_once';
const formats: { [Kind in FileOptions['kind']]: Extract<FileOptions, { kind: Kind }>['options'] } = {
  csv: { dialect: 'international', batches },
  sie4: {
    companyName: 'Klinikka Oy',
    organisationNumber: null,
    declareAccounts: true,
    customerDimension: null,
    batches,
  },
  datev: {
    ...{ consultantNumber: '29098', clientNumber: '55003', accountLength: 4, fiscalYearMonth: '01', chart: null },
    ...{ locked: false, automaticAccounts: [], cashAccounting: false, batches },
  },
};
const readers: Record<FileOptions['kind'], (bytes: Uint8Array) => ReadEntry[]> = {
  csv: (bytes) => entriesOfCsv(readCsvFile(bytes, 'international'), 'international'),
  sie4: (bytes) => readSie(bytes).vouchers,
  datev: (bytes) => entriesOfDatev(readDatev(bytes)),
};

async function begin(kind: FileOptions['kind']): Promise<ContractSubject> {
  const { time, installation: plain, db, release, databaseId } = await newCompany({ owner, simulated });
  const folder = join(root, String(plain.id), 'batches');
  const options = { kind, options: formats[kind] } as FileOptions;
  // SIE uses numbers for dimensions.
  const mapping = parseMapping({
    ...mappingData,
    erp: { ...mappingData.erp, dimensions: { dimension_1: { name: '6' } } },
  });
  if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
  const installation = { ...plain, mapping: mapping.mapping, erp: { ...options, folder, from: null, auto: true } };
  return {
    ...{ capabilities: fileCapabilities[kind], db, databaseId, installation, time, troubles: new Troubles() },
    open: () => {
      throw new Error('nothing is asked of a file');
    },
    // Puts a file where the folder should be.
    setAway(isAway) {
      mkdirSync(dirname(folder), { recursive: true });
      if (isAway) writeFileSync(folder, '');
      else rmSync(folder);
    },
    lock: async () => undefined,
    unlock: async () => undefined,
    async held() {
      const isFolder = existsSync(folder) && statSync(folder).isDirectory();
      const isManifest = (name: string) => name.endsWith('.json') && name !== claimName;
      const files = isFolder ? readdirSync(folder).filter(isManifest) : [];
      return files.flatMap((name) => {
        const { file } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { file: string };
        return readers[kind](readFileSync(join(folder, file))).map(({ unit, date, lines }) => {
          const [, , id, n] = unit.split('/');
          return {
            ...{ description: `invoice ${id} of ${plain.id}, ${n}`, state: 'posted', date },
            lines: lines.map(({ account, amount }) => ({ account, amount: new Money(amount) })),
          };
        });
      });
    },
    misdeeds: () => [],
    close: release,
  };
}

describe.each(['csv', 'sie4', 'datev'] as const)('files of the format %s', (kind) => {
  contractSuite(fileCapabilities[kind], () => begin(kind));
});
