// All lives of `npm run simulate`. A seed decides the world of a life and its traits.

import { Rng } from '../../sandbox/src/rng.ts';
import { liveDelivery } from './delivery/life.ts';
import { type DeliveryTraits, type DeliveryWorld, deliveryTraitsOf } from './delivery/traits.ts';
import { type LifeReport, liveInstallation } from './life.ts';
import type { Databases } from './stage.ts';
import { hasTrait, type TraitName, type Traits, traitNames, traitsOf } from './traits.ts';

/**
 * `installation`: an installation with its source. The other worlds have only deliveries, into a fake ERP or the fake
 * of a real one.
 */
export type WorldName = 'installation' | DeliveryWorld;

/** Traits that replace those of a seed. */
export type Given = { world?: WorldName } & Partial<Traits> & Partial<Omit<DeliveryTraits, 'erp'>>;

/** The values of `--trait`: a world, or a trait of an installation. */
export const choices = [...traitNames, 'delivery', 'odoo', 'cloud', 'matrix'] as const;
export type Choice = (typeof choices)[number];

function worldOf(seed: number): WorldName {
  return new Rng(seed, 'world').weighted<WorldName>([
    ['installation', 6],
    ['delivery', 1],
    ['odoo', 1],
  ]);
}

/** Whether the arguments choose the life of a seed. */
export function isChosen(seed: number, choice: Choice): boolean {
  // No seed decides for these, whose lives are played on request.
  if (choice === 'matrix' || choice === 'cloud') return true;
  const world = worldOf(seed);
  if (choice === 'delivery' || choice === 'odoo') return world === choice;
  return world === 'installation' && hasTrait(traitsOf(seed), choice satisfies TraitName);
}

/** Plays a seed. `n` must be different for each life in a database. */
export function live(databases: Databases, seed: number, n: number, given: Given = {}): Promise<LifeReport> {
  const { world = worldOf(seed), ...traits } = given;
  if (world === 'installation') return liveInstallation(databases, seed, n, traitsOf(seed, traits));
  const drawn = deliveryTraitsOf(seed, world, traits.erp ?? null);
  return liveDelivery(databases, seed, n, { ...drawn, ...traits, erp: drawn.erp });
}
