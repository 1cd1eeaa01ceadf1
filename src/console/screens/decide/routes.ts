import { remarksByCode } from '../../../queries/remarks.ts';
import { decisionOptions, named, openItems, placeOf, remarkedItems, sumsOf } from '../../../queries/to-decide.ts';
import { csvFile, fileRows, pageOf, pageRows } from '../../parts/pages.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { filterOf } from './filter.ts';
import { csvCells, csvHeading, decidePage } from './view.ts';

/** The screen To decide lists held, late, missing and refused documents, and shows the effect of each decision. */
export const decideRoutes: readonly Route[] = [
  {
    ...{ method: 'GET', path: '/:installation/decide', audit: 'nothing', answer: show },
    access: { who: 'read_books', in: 'installation' },
  },
];

/** Documents are judged again for their effects. A page with more of them links to the effects of each. */
const weighedAtMost = 10;

async function show({ db, installation, query, now, rights }: InstallationRequest): Promise<Answer> {
  const clock = () => now;
  const { filter, unread } = filterOf(query);
  const remarks = await remarksByCode(db, [installation]);
  const { code } = filter;
  const isRemark = remarks.some((each) => each.code === code);
  const problems = await openItems(db, installation, filter, clock);
  const found =
    isRemark && code !== undefined
      ? [...problems, ...(await remarkedItems(db, installation, code, filter, clock))]
      : problems;
  if (query.csv !== undefined)
    return csvFile(
      `to-decide-${installation.id}.csv`,
      csvHeading,
      (await named(db, installation, found.slice(0, fileRows))).map(csvCells),
    );
  const { after = '' } = query;
  const page = pageOf(found.filter((item) => placeOf(item) > after).slice(0, pageRows + 1), placeOf);
  const [rows, next] = [await named(db, installation, page.rows), page.next];
  const isWeighed = rows.length <= weighedAtMost;
  const options = isWeighed ? await decisionOptions(db, installation, rows, clock) : null;
  const sums = sumsOf(found);
  return { page: decidePage({ installation, query, unread, sums, remarks, rows, next, options, rights }) };
}
