// Facts of the specification that no schema or constant contains, with the reason. An entry without a match fails the
// test.

export interface NotAField {
  reason: string;
  /** The section, and the exact text of a row, of a note in a row, or of a sentence. */
  facts: readonly (readonly [section: string, text: string])[];
}

export const notFields: readonly NotAField[] = [
  {
    reason: "Words of the text and addresses: the server's tests use them.",
    facts: [
      ['What the service does: Conventions that hold for all endpoints', 'Base address of all endpoints is `{api}`.'],
      ['Endpoints', 'Paths are relative to `{api}`.'],
      ['Authentication', 'Token issuing address (`{auth_url}`), flows and client registration mechanics: not shown.'],

      [
        'Veterinary Practice Management REST API',
        'In this document `{api}` means `{base_url}/<installation_id>/api/0.1`.',
      ],
      [
        'Veterinary Practice Management REST API',
        "`<installation_id>` is an integer that identifies the clinic organisation's installation.",
      ],
      [
        'What the service does: Conventions that hold for all endpoints',
        'References between resources in payloads are absolute URLs of the form `{api}/<resource>/<id>/` (called url-references below).',
      ],
      [
        'Resources and their fields: Postransaction (payment link)',
        'The link base address in `payment_link.url` is `{payment_link_base_url}/<string>`.',
      ],
      [
        'What the service does: Conventions that hold for all endpoints',
        'Filtering uses `<field>__<operator>` query parameters.',
      ],
    ],
  },
  {
    reason: 'How types are written: the samples of schemas.ts, which every field of these types is judged by.',
    facts: [
      ['What the service does: Conventions that hold for all endpoints', 'Dates are `YYYY-MM-DD`.'],
      [
        'What the service does: Conventions that hold for all endpoints',
        'Timestamps are ISO 8601 (with or without an offset or `Z`).',
      ],
      [
        'What the service does: Conventions that hold for all endpoints',
        'Money and quantities are decimal values, sent as strings (for example `<decimal>`) or numbers.',
      ],
    ],
  },
  {
    reason: 'The names are not shown; what is chosen is proved by documents.test.ts and clients.test.ts.',
    facts: [
      [
        'Resources and their fields: Custom fields',
        'Each definition has an id (used as `field_id` when writing), a human-readable label, a data type (text, number, date, select and others) and the model it applies to (client or patient).',
      ],
      [
        'Resources and their fields: Custom fields',
        'Values appear in client and patient responses as `fields_rel`, an array of entries holding the value-record id, the definition id, the field name and the stored value.',
      ],

      [
        'Resources and their fields: Invoice',
        'The invoice carries a snapshot of the payer details (name, company name, VAT number, company register number, country as ISO 3166-1 alpha-2, address lines 1 and 2, postal code, city, state or region); the snapshot does not change when the client record changes.',
      ],
    ],
  },
  {
    reason: 'What values mean and what a call does; the contract tests of each part show it.',
    facts: [
      ['Resources and their fields: Invoice', "formatted document number is `invoice_prefix + '-' + invoice_number`"],
      ['Resources and their fields: Department settings', 'when `true` the lock date is managed automatically'],
      [
        'Endpoints: Clients, phone numbers, custom fields',
        'creates the value, or updates the existing value for that field on that record without a duplicate error',
      ],
      [
        'Endpoints: Accounting reports, account numbers, alternative payers, alternative pricings',
        'Account number create deduplicates on the combination of `number`, `description`, `department`: if a record with all three equal exists, that record is returned (and unarchived if archived) instead of creating a new one.',
      ],
      [
        'Endpoints: Invoices, payments, prepayments',
        'true dates the credit note as the original invoice, false uses today',
      ],
      ['Endpoints: Invoices, payments, prepayments', 'write-back of the external document id'],
      ['Endpoints: Wholesaler integration', 'list / record'],
      ['Endpoints: Wholesaler integration', 'takes effect atomically for the next delivery, no grace period'],
      [
        'Endpoints: Wholesaler integration',
        "Order by `order_id`, otherwise by `invoice_number`; only the caller's own orders count; otherwise the line is stored unlinked with `order_id` null; an invoice number matching more than one of the caller's orders leaves the line unlinked.",
      ],
      [
        'Errors',
        'Receipt line rejection reasons: no `product_number` and no `barcode`; invalid quantity; a date or other field invalid; a line that is not an object or a value longer than allowed; unsettled department.',
      ],

      ['Resources and their fields: Patient', 'code 2 corresponds to `Female`'],
      ['Resources and their fields: Invoice row', 'revenue ledger account for the row, default response'],

      [
        'Resources and their fields: Invoice row',
        'holds a secondary or internal ledger account code and the internal reporting dimensions 1 and 2',
      ],
      ['Resources and their fields: Postransaction (payment link)', 'payer consent is required'],

      ['States and transitions: Payment link', 'A created link starts at 1 with `delivery_status` 1 (or 2 when sent).'],
    ],
  },
  {
    reason: "What the clinic's records allow, which no schema knows; invoices.test.ts and consultations.test.ts.",
    facts: [
      ['Resources and their fields: Invoice payment', 'invoice must have status 3'],
      [
        'States and transitions: Invoice status',
        'A payment can be recorded only when status is 3; for a Draft or Voided invoice the payment is rejected with a validation error.',
      ],

      [
        'States and transitions: Consultation status',
        'Transitions into 5, 6, 7, 9 and 11 and out of 6, 7, 9, 10 and 11: not shown.',
      ],
    ],
  },
  {
    reason: 'The name of the field is not shown; settings.ts says what is chosen.',
    facts: [
      [
        'Resources and their fields: Department settings',
        '| day-of-month setting (1 to 31) on which the automatic lock advances | field name: not shown |',
      ],
    ],
  },
  {
    reason:
      'The quirk for tests lets a loopback address in, so that the schema does not refuse it; wholesalers.test.ts.',
    facts: [
      ['Resources and their fields: Wholesaler integration records', 'HTTPS only'],
      ['Resources and their fields: Wholesaler integration records', 'must be a publicly reachable host'],
      [
        'Resources and their fields: Wholesaler integration records',
        'private, loopback and localhost addresses are rejected with 400',
      ],
      [
        'Resources and their fields: Wholesaler integration records',
        '16 to 128 characters, any character, encoded as UTF-8 to form the HMAC signing key',
      ],
    ],
  },
  {
    reason: 'How a catalog file is read and what its errors are called: catalog-csv.test.ts.',
    facts: [
      [
        'Resources and their fields: Wholesaler integration records',
        'Catalog CSV (one row per product; header row mandatory; columns matched by name in any order; UTF-8, byte-order mark tolerated; values trimmed; blank optional cell means unset):',
      ],
      [
        'Resources and their fields: Wholesaler integration records',
        'Optional columns also cover unit of measure/package description, barcode (EAN/GTIN; lowest-priority matching key when barcode matching is enabled), ISO 4217 currency, total dosable units (computed from the per-package units and package count if omitted or not greater than 0), dosable units per package, packages per wholesale unit, active ingredient, route-of-administration code, strength, and a controlled-substance boolean.',
      ],
      [
        'Resources and their fields: Wholesaler integration records',
        'Exact names of these optional columns and the full list of `product_type` values: not shown.',
      ],
      [
        'Errors',
        'Catalog error kinds in `upload.errors`: file not readable as UTF-8 CSV; no header row; a required column absent; no data rows; a required value empty on a row; a value that cannot be read.',
      ],
    ],
  },
  {
    reason: 'The object storage is no part of the API: catalogs.test.ts.',
    facts: [
      [
        'Endpoints: Wholesaler integration',
        '| POST | `{upload_url}` (returned `url`) | multipart form: every pair of `fields` as a form field, all before `file`, which is last | object storage answer |',
      ],
      [
        'Endpoints: Wholesaler integration',
        "The `Content-Type` form field describes the object; the request's own `Content-Type` header must not be set by hand.",
      ],
      ['Errors', '| Object-storage upload, file too large | 400 `EntityTooLarge` |'],
      ['Errors', '| Object-storage upload, empty file | 400 `EntityTooSmall` |'],
      ['Errors', '| Object-storage upload, wrong content type | 403 `AccessDenied` (policy condition failed) |'],
      [
        'Errors',
        "| Object-storage upload, URL older than five minutes | 403 `AccessDenied` with message 'Policy expired' |",
      ],
    ],
  },
  {
    reason: 'The order of checks and what concurrent calls get: catalogs.test.ts, orders-and-receipts.test.ts.',
    facts: [
      [
        'Endpoints: Wholesaler integration',
        'The target wholesaler must be active (not archived), of type Integration, and linked to an available wholesaler; checks run in order: missing, archived or non-integration gives 404; belonging to another OAuth application gives 403.',
      ],
      [
        'Endpoints: Wholesaler integration',
        "The call is not idempotent: a second call on an already moved order gives 400 with a message saying the order must be in 'Ordered' status, which means the earlier call landed.",
      ],
      ['Endpoints: Wholesaler integration', 'Concurrent duplicates are serialised; the second gets that 400.'],
    ],
  },
  {
    reason: 'How events are sent: wholesalers.test.ts, delivery.test.ts.',
    facts: [['Events', 'The service sends webhooks by HTTP POST with a JSON body.']],
  },
  {
    reason: 'The limiter has it, no schema: lists.test.ts.',
    facts: [
      ['Limits', '| Rate window | rolling 60 seconds, enforced per endpoint action |'],
      ['Limits', '| Page weight | a request counts as `ceil(requested_page_size / default_page_size)` requests |'],
    ],
  },
];
