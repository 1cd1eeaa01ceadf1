// Prepares a new company in the real Odoo that the environment names, for the scripted calls.

import { OdooPerson } from '../../../../support/odoo.ts';
import { makeCompany } from '../../../../support/odoo-company.ts';
import { makeApiKey } from '../../../../support/odoo-key.ts';
import { OdooClient, overHttp } from '../../client.ts';
import { type OdooVersion, World } from './world.ts';

/** The administrator of a new company with Odoo's generic chart. */
export async function realWorld(): Promise<World> {
  const books = { chart: 'generic_coa', accounts: [], taxes: [], journals: [], plans: [], partners: [] };
  const company = await makeCompany(books);
  const { login } = company.admin;
  const version = company.version as OdooVersion;
  const suffix = String(company.id);
  const admin = { ...login, user: `admin-${suffix}`, password: `admin of ${suffix}` };
  const groups = ['base.group_system', 'base.group_partner_manager', 'base.group_user'];
  const ids = await Promise.all(groups.map((group) => company.admin.refer(group)));
  await company.admin.create('res.users', {
    ...{ name: admin.user, login: admin.user, password: admin.password },
    ...{ company_id: company.id, company_ids: [[6, 0, [company.id]]] },
    [version === 19 ? 'group_ids' : 'groups_id']: [[6, 0, ids]],
  });
  const client = new OdooClient(overHttp(login.url), admin);
  const world = await new World(version, client, suffix).prepare();
  if (version === 19) world.key = await makeApiKey(await OdooPerson.logIn(admin));
  return world;
}

export async function realVersion(): Promise<OdooVersion> {
  const { login } = await OdooPerson.administrator();
  const client = new OdooClient(overHttp(login.url), login);
  const told = (await client.rpc('common', 'version', [])) as { server_version_info: [OdooVersion] };
  return told.server_version_info[0];
}
