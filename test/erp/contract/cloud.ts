// A company in the fake of a cloud ERP, as the subject of the contract's cases and of random rounds.

import type { Rng } from '../../../sandbox/src/rng.ts';
import type { Db } from '../../../src/db/pool.ts';
import type { Money } from '../../../src/domain/money.ts';
import type { Capabilities } from '../../../src/erp/capabilities.ts';
import { reliedOn } from '../../../src/erp/cautious.ts';
import type { ErpTarget } from '../../../src/erp/port.ts';
import type { ErpTransport, TargetPorts } from '../../../src/erp/targets/api/http.ts';
import { provenances } from '../../../src/erp/targets/provenance.ts';
import { parseMapping } from '../../../src/mapping/parse.ts';
import type { SimulatedDatabase } from '../../simulator/database.ts';
import { mappingData } from '../../simulator/delivery/plan.ts';
import type { ContractSubject } from './cases.ts';
import { newCompany } from './fake.ts';
import { Troubles, troubled } from './troubled.ts';

export const silent = { debug: () => {}, info: () => {}, warn: () => {} } as never;

export interface CloudFake extends ErpTransport {
  readonly config: { kind: keyof typeof provenances };
  lock(through: string): void;
  unlock(): void;
}

export interface CloudErp<Fake extends CloudFake> {
  /** The codes of the mapping for the fake company. */
  words: object;
  begin(clock: TargetPorts['clock']): Fake;
  open(fake: Fake, ports: TargetPorts): ErpTarget;
  /** Our entries in the books, without void ones. */
  held(fake: Fake): HeldInCloud[];
  /** Sets the unknown facts of the ERP at random. */
  unknown?(fake: Fake, rng: Rng): void;
  /** Prepares a list of two pages that changes between them (`ContractSubject.crowd`). */
  crowd?(fake: Fake): () => void;
}

export interface HeldInCloud {
  id: string;
  key: string;
  unitId: string;
  description: string;
  state: string;
  date: string;
  lines: { account: string; amount: Money }[];
}

/** The parts of an entry's text. The entries of people have none. */
export function partsOf(text: string): Pick<HeldInCloud, 'description' | 'unitId' | 'key'>[] {
  const parts = /^(.*) [·-] (\d+\/\S+) [[(]([A-Z2-7]{20})[\])]$/s.exec(text);
  return parts === null ? [] : [{ description: parts[1] ?? '', unitId: parts[2] ?? '', key: parts[3] ?? '' }];
}

export interface CloudSubject<Fake> extends ContractSubject {
  fake: Fake;
  /** The target without planned troubles. */
  target(): ErpTarget;
}

export interface CloudOptions<Fake> {
  /** Deliveries rely only on what was measured, as those of an installation do. */
  isCautious?: boolean;
  /** Wraps the connection to the fake. */
  over?: (fake: Fake, time: ContractSubject['time']) => ErpTransport;
}

export async function cloudSubject<Fake extends CloudFake>(
  databases: { owner: Db; simulated: SimulatedDatabase },
  erp: CloudErp<Fake>,
  { isCautious = false, over = (fake) => fake }: CloudOptions<Fake> = {},
): Promise<CloudSubject<Fake>> {
  const { time, installation: plain, company, db, release, databaseId } = await newCompany(databases);
  const mapping = parseMapping({ ...mappingData, erp: { ...mappingData.erp, ...erp.words } });
  if ('errors' in mapping) throw new Error(mapping.errors.join('; '));
  const clock = time.clock();
  const fake = erp.begin(clock);
  const transport = over(fake, time);
  const capabilities = capabilitiesOf(fake.config.kind, isCautious);
  const target = () => Object.assign(erp.open(fake, { clock, log: silent, transport }), { capabilities });
  const troubles = new Troubles();
  return {
    ...{ capabilities, db, databaseId, time, troubles, fake, target },
    installation: { ...plain, mapping: mapping.mapping },
    open: () => troubled(target(), { troubles, time, company }),
    ...(erp.crowd && { crowd: () => erp.crowd?.(fake) ?? (() => undefined) }),
    setAway: (isAway) => {
      troubles.isAway = isAway;
    },
    lock: async (through) => fake.lock(through),
    unlock: async () => fake.unlock(),
    held: async () => erp.held(fake),
    misdeeds: () => [],
    close: release,
  };
}

/** The record of a target, or the one that deliveries use, because nothing was measured. */
export function capabilitiesOf(kind: keyof typeof provenances, isCautious: boolean): Capabilities {
  return isCautious ? reliedOn(provenances[kind]) : provenances[kind].capabilities;
}
