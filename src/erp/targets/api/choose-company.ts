import { visible } from '../../../domain/text.ts';
import { erpAnswerTexts } from '../../../texts/findings/erp-answers.ts';
import { ErpError } from '../../port.ts';

/**
 * Chooses the company with the configured name or id; without one, the user's only company. Throws ErpError `auth` if
 * there is none, or if there are several.
 */
export function chooseCompany<Company extends { id: number | string; name: string }>(
  companies: readonly Company[],
  { company: wanted, user }: { company: string | null; user: string },
  erp: string,
): Company {
  const [company, ...others] = companies.filter(
    ({ id, name }) => wanted === null || String(id) === wanted || name === wanted,
  );
  const list = companies.map(({ id, name }) => `${visible(name)} (${id})`).join(', ') || erpAnswerTexts.none;
  if (company === undefined) {
    const named = { erp, user: visible(user), list };
    throw new ErpError(
      'auth',
      wanted === null
        ? erpAnswerTexts.noCompany(named)
        : erpAnswerTexts.companyNotAllowed({ ...named, company: visible(wanted) }),
    );
  }
  if (others.length > 0) throw new ErpError('auth', erpAnswerTexts.companyAmbiguous({ erp, list }));
  return company;
}
