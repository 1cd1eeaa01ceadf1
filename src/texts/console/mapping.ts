import { catalogue } from '../catalogue.ts';

/** The screen Mapping. */
export const mappingScreen = catalogue('console/mapping.mappingScreen', {
  inForce: ({ mapping, since }: { mapping: string; since: string }) =>
    `${mapping} is in force. The tables have the records dated from ${since} on.`,
  fileDiffers: 'The mapping in force differs from the file of the configuration.',
  cases: 'Cases',
  case: 'case',
  result: 'result',
  passes: 'as expected',
  noCases: 'The mapping has no cases.',
  history: 'Versions',
  used: 'Mappings of posted entries',
  approvedBy: 'approved by',
  since: 'in force since',
  firstPosted: 'first posted',
  lastPosted: 'last posted',
  links: 'links of the chain',
});
