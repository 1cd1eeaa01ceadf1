// The operations that the rows of the errors describe, and the filters that the specification describes in words.

const available = '/available_wholesaler/';
const receipts = 'POST /wholesaler/{id}/receipts/';
const one = (path: string, ...methods: string[]): string[] => methods.map((method) => `${method} ${path}{id}/`);
const orders = ['set_wholesaler_reference_number', 'mark_delivered'].map((action) => `POST /order/{id}/${action}/`);
const uploadUrl = 'POST /wholesaler/{id}/catalog_upload_url/';
const registration = [`POST ${available}`, `GET ${available}`, ...one(available, 'GET', 'PATCH', 'DELETE')];
const refunds = ['POST /invoice/{id}/full_refund/', 'POST /invoice/{id}/partial_refund/'];

/** For each row of the errors, its operations and the status that the contract tests check. */
export const errorRows: Record<string, [status: number, keys: string[] | 'all']> = {
  'Rate limit exceeded': [429, 'all'],
  'Bulk patient create, all failed': [400, ['POST /patient/bulk/']],
  'Bulk patient create, some failed with `force_push=true`': [207, ['POST /patient/bulk/']],
  'Payment on an invoice not in status 3': [400, ['POST /invoicepayment/']],
  'Payment with `payment_type=8`': [400, ['POST /invoicepayment/']],
  'Payment or credit note dated before `financial_period_lock_date`': [400, ['POST /invoicepayment/', ...refunds]],
  'PATCH of `financial_period_lock_date` while automatic locking is enabled': [
    400,
    ['PATCH /settings/department/{id}/'],
  ],
  'Prepayment refund exceeding `unused_amount`': [400, ['POST /unallocatedpayment/']],
  'Consultation create when communication preferences are enabled and the client has no valid ones': [
    400,
    ['POST /consultation/'],
  ],
  'Available wholesaler: invalid or expired OAuth token': [401, registration],
  'Available wholesaler create with a legacy API key': [401, [`POST ${available}`]],
  'Available wholesaler update or delete, registered by another application': [403, one(available, 'PATCH', 'DELETE')],
  '`webhook_callback_url` not HTTPS or not public': [400, [`POST ${available}`, `PATCH ${available}{id}/`]],
  'Catalog upload URL: wholesaler missing, archived, or not an Integration type': [404, [uploadUrl]],
  'Catalog upload URL: wholesaler of another application': [403, [uploadUrl]],
  'Catalog upload URL cannot be generated': [503, [uploadUrl]],
  'set_wholesaler_reference_number or mark_delivered on an order of another integration or without an integration wholesaler':
    [403, orders],
  'set_wholesaler_reference_number on an order still in Ordering in process': [400, orders.slice(0, 1)],
  'mark_delivered on an order not in Ordered': [400, orders.slice(1)],
  'Receipts: malformed JSON, missing or empty `receipt_lines`, or more than 500 lines': [400, [receipts]],
  'Receipts: wholesaler of another integration': [403, [receipts]],
  'Receipts: wholesaler id missing, archived or not an integration wholesaler': [404, [receipts]],
  'Receipts: a line cannot be used': [200, [receipts]],
  'Receipts: unlinked line whose department cannot be settled': [200, [receipts]],
};

/** Filters that the specification describes in words. The sandbox chose their names (clients.ts, patients.ts). */
export const filterWords: Record<string, string[]> = {
  'organization-name partial match': ['organization_name__icontains'],
  'exact email': ['email__is'],
  'phone partial match': ['phone_number__icontains'],
  'non-archived filter': ['archived__is'],
  'has-living-patient filter': ['has_living_patient__is'],
  'name partial match': ['name__icontains'],
  'microchip exact': ['microchip__is'],
  'species code': ['species_code__is'],
  'born-on-or-after date filter': ['date_of_birth__gte'],
};
