import { visible } from '../../../domain/text.ts';
import { ErpError } from '../../port.ts';

/**
 * The company that a configuration means, by name or id, or the only one of the user's. Throws ErpError `auth` where there is none, or
 * several.
 */
export function chooseCompany<Company extends { id: number; name: string }>(
  companies: readonly Company[],
  { company: wanted, user }: { company: string | null; user: string },
  erp: string,
): Company {
  const [company, ...others] = companies.filter(
    ({ id, name }) => wanted === null || String(id) === wanted || name === wanted,
  );
  const list = companies.map(({ id, name }) => `${visible(name)} (${id})`).join(', ') || 'none';
  if (company === undefined) {
    const asked = wanted === null ? 'may use no company' : `may not use the company ${visible(wanted)}`;
    throw new ErpError('auth', `the ${erp} user ${visible(user)} ${asked}; its companies: ${list}`);
  }
  if (others.length > 0) {
    throw new ErpError('auth', `erp.company must name one of the companies of the ${erp} user: ${list}`);
  }
  return company;
}
