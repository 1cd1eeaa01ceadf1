import type { OdooVersion, World } from './world.ts';

/** A scripted series of calls for one behaviour of Odoo. measured.json has the answers of real servers by its name. */
export interface ScriptedCall {
  name: string;
  /** The versions with this behaviour; the default is all. */
  only?: OdooVersion[];
  run(world: World): Promise<unknown>;
}
