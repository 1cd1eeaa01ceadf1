import type { ApiTargetConfig } from '../../config/erp.ts';
import { withMeasured } from '../measured.ts';
import type { Provenance, Source } from '../provenance.ts';
import { fortnoxCapabilities } from './fortnox/capabilities.ts';
import { netvisorCapabilities } from './netvisor/capabilities.ts';
import { odooCapabilities } from './odoo/capabilities.ts';
import { procountorCapabilities } from './procountor/capabilities.ts';
import { trytonCapabilities } from './tryton/capabilities.ts';
import { xeroCapabilities } from './xero/capabilities.ts';

const docs = (where: string): Source => ({ from: 'docs', where });
const thirdParty = (where: string): Source => ({ from: 'third_party', where });
const assumed = (where: string): Source => ({ from: 'assumed', where });

/** How the facts of each ERP with an API are known. */
export const provenances: Readonly<Record<ApiTargetConfig['kind'], Provenance>> = {
  tryton: {
    erp: 'Tryton 8.0',
    capabilities: trytonCapabilities,
    rest: { from: 'measured', where: 'trytond 8.0.12, by the tests in test/erp/tryton' },
    facts: {},
  },
  odoo: {
    erp: 'Odoo 17 to 19',
    capabilities: odooCapabilities,
    rest: { from: 'measured', where: 'Odoo Community, by the tests in test/erp/odoo/real' },
    facts: {},
  },
  procountor: {
    erp: 'Procountor, API 26.04',
    capabilities: procountorCapabilities,
    rest: { from: 'spec', where: 'OpenAPI description of the API, version 26.04' },
    facts: {
      'key.unique': assumed('nothing says that names of receipts are unique'),
      'key.duplicate_reply': assumed('follows from key.unique'),
      'key.lookup_lag_seconds': assumed('no delay is mentioned'),
      'write.max_lines': assumed('no limit is mentioned'),
      'write.max_bytes': assumed('no limit is mentioned'),
      'doubt.server_may_work_seconds': assumed('no time limit is mentioned'),
      'pace.in_flight_per_company': assumed('no limit is mentioned'),
      'pace.limits': docs('dev.procountor.com/api-requests: 60 a second, 20 on the test server'),
      'pace.errors_allowed': assumed('no limit is mentioned; too many requests may suspend the service'),
      'lines.max_dimensions': assumed('depends on the licence'),
      'vat.rounding': assumed('the rule is not mentioned; amounts have two decimals'),
      'vat.tolerance_minor': assumed('follows from vat.rounding'),
      'periods.on_locked': docs('support.procountor.fi: no changes after a tracking period is closed'),
      'text.encoding': docs('dev.procountor.com/api-requests: only characters of Windows-1252'),
      request_id: assumed('no such header is mentioned'),
      errors: { from: 'third_party', where: 'error codes in texts of vendors of connectors' },
    },
  },
  xero: {
    erp: 'Xero, accounting API 16.1',
    capabilities: xeroCapabilities,
    rest: { from: 'spec', where: 'OpenAPI description of the accounting API, version 16.1.0' },
    facts: {
      'key.unique': assumed('nothing says that narrations are unique'),
      'key.duplicate_reply': assumed('follows from key.unique'),
      'key.lookup_lag_seconds': assumed('no delay is mentioned'),
      'write.max_entries': assumed('no limit is mentioned'),
      'write.max_lines': assumed('no limit is mentioned'),
      'write.max_bytes': assumed('no limit is mentioned'),
      'write.withdraw': assumed('the specification has the status DELETED; which journals can get it is not mentioned'),
      'doubt.server_may_work_seconds': assumed('no time limit is mentioned'),
      'pace.in_flight_per_company': thirdParty('developers of connectors: 5 requests at a time'),
      'pace.limits': thirdParty('developers of connectors: 60 a minute and 5,000 a day for each organisation'),
      'pace.errors_allowed': assumed('no limit is mentioned'),
      'lines.decimals': assumed('amounts are numbers; further decimals are not mentioned'),
      'lines.party': assumed('a journal line has no contact, and accounts that need one refuse journals'),
      'vat.rounding': docs('help.xero.com/uk/VAT-Adjustments: line by line, to the nearest penny'),
      'vat.tolerance_minor': assumed('follows from vat.rounding'),
      'periods.on_locked': thirdParty('error texts: "The document date cannot be before the period lock date"'),
      'text.encoding': assumed('JSON is UTF-8; characters that Xero refuses are not mentioned'),
      'text.lengths': assumed('no limits are mentioned for journals'),
      'text.forbidden': assumed('no limits are mentioned for journals'),
      request_id: assumed('the header is in the specification; the time that Xero remembers an id is not'),
      errors: thirdParty('texts of errors in reports of developers; one of them is in the specification'),
    },
  },
  netvisor: {
    erp: 'Netvisor',
    capabilities: netvisorCapabilities,
    rest: docs('support.netvisor.fi, articles of the API resources'),
    facts: {
      'key.unique': assumed('nothing says that descriptions of vouchers are unique'),
      'key.duplicate_reply': assumed('follows from key.unique'),
      'key.lookup_lag_seconds': assumed('no delay is mentioned'),
      'write.max_lines': assumed('no limit is mentioned'),
      'write.max_bytes': assumed('no limit is mentioned'),
      'doubt.server_may_work_seconds': assumed('the advice is to wait for an answer for at least 120 or 360 seconds'),
      'pace.limits': assumed('no limit is mentioned'),
      'pace.errors_allowed': assumed('no limit is mentioned'),
      'lines.max_dimensions': assumed('no limit is mentioned'),
      'vat.tolerance_minor': assumed('in the mode net, Netvisor stores the lines as they were sent'),
      'periods.on_locked': { from: 'third_party', where: 'the error code PERIOD_LOCK in a published client' },
      'text.forbidden': assumed('no character is excluded'),
      'read_back.normalises': { from: 'third_party', where: 'answers recorded by a published client' },
      request_id: assumed('a repeated id is refused; how long ids are remembered is not mentioned'),
      errors: docs('support.netvisor.fi, article on controlling errors'),
    },
  },
  fortnox: {
    erp: 'Fortnox, API version 3',
    capabilities: fortnoxCapabilities,
    rest: { from: 'spec', where: 'OpenAPI description of the API, March 2026' },
    facts: {
      'key.unique': assumed('nothing says that descriptions of vouchers are unique'),
      'key.duplicate_reply': assumed('follows from key.unique'),
      'key.lookup': docs('fortnox.se/developer, parameters: lastmodified and financialyear'),
      'key.lookup_lag_seconds': assumed('no delay is mentioned'),
      'write.max_lines': assumed('the description allows any number of rows'),
      'write.max_bytes': assumed('no limit is mentioned'),
      'doubt.server_may_work_seconds': assumed('no time limit is mentioned'),
      'pace.in_flight_per_company': assumed('no limit is mentioned'),
      'pace.limits': docs('fortnox.se/developer, rate limits: 25 in 5 seconds'),
      'pace.errors_allowed': assumed('no limit is mentioned'),
      'lines.decimals': assumed('amounts are kronor and öre'),
      'vat.mode': docs('fortnox.se/developer: accounts have VAT codes; rows of vouchers have none'),
      'vat.tolerance_minor': assumed('follows from vat.mode'),
      'periods.on_locked': { from: 'third_party', where: 'helpdesk.sharespine.com: error 2000401' },
      'text.encoding': {
        from: 'third_party',
        where: 'softwerkab/fortnox-csharp-api-sdk: SIE files are in code page 437',
      },
      'text.forbidden': docs('fortnox.se/developer, formats and encoding: valid characters'),
      'read_back.normalises': assumed('rows may come in another order'),
      request_id: assumed('no such header is mentioned'),
      errors: docs(
        'fortnox.se/developer, errors; 2000401, 2000946, 2000947 and 2001897 are from helpdesk.sharespine.com',
      ),
    },
  },
};

/** How the facts about an installation's ERP are known, with what was measured on a demo company. */
export function provenanceOf({ kind, measured }: ApiTargetConfig): Provenance {
  const known = provenances[kind];
  return measured === undefined ? known : withMeasured(known, measured);
}
