import { odooContract } from './fake/contract.ts';

odooContract([
  [17, 'jsonrpc', false],
  [19, 'json2', true],
]);
