import { odooContract } from './fake/contract.ts';

odooContract([
  [17, 'jsonrpc', true],
  [18, 'jsonrpc', true],
]);
