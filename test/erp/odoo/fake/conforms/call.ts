import type { OdooVersion, World } from './world.ts';

/** One thing that an Odoo does, told by a script of calls. What real ones answered is in measured.json, by the name. */
export interface ScriptedCall {
  name: string;
  /** The versions that have what it is about; all unless given. */
  only?: OdooVersion[];
  run(world: World): Promise<unknown>;
}
