// Assigns each table and list of fields in the specification to operations whose bodies and answers it describes.

/** `METHOD /path/` and the names that lead to an object inside the body or the answer. For a list, its records. */
type Pointer = string;

export interface Where {
  create?: Pointer[];
  change?: Pointer[];
  read?: Pointer[];
  /** The list whose filters and flags are named in the rows. */
  list?: string;
  /**
   * The role of fields without one in their row: `read` fields are only in answers. The default is in requests and
   * answers.
   */
  silent?: 'read';
  /**
   * Fields that are only in answers although their rows do not say so, because the payloads under Endpoints lack them.
   */
  answeredOnly?: string[];
  /** Fields, or `field.member`, that are null in answers if they do not apply, although their rows do not say so. */
  nullable?: string[];
  /** Fields that a body may also set to null, which the sandbox chose. */
  nullWritten?: string[];
  /** Fields with more values in answers than in requests: applied prepayments (type 8). */
  moreAnswered?: Record<string, number>;
  /** Single fields that belong to other operations. */
  elsewhere?: Record<string, Where>;
  /** Fields of an answer that requests may write; all others are read-only. */
  alsoWritten?: string[];
}

const resource = 'Resources and their fields';
const endpoints = 'Endpoints';
const consultation = ['medicines', 'procedures', 'supplies', 'foods'].map((kind) => `POST /consultation/{id}/${kind}/`);
const items = [
  ...['medicines', 'procedures', 'supplies', 'foods'].map((kind) => `GET /consultation/{id}/${kind}/`),
  ...consultation,
  'GET /consultationitem/',
];
const crud = (path: string): Pointer[] => ['GET ', 'POST '].map((method) => `${method}${path}`);
const one = (path: string, ...methods: string[]): Pointer[] => methods.map((method) => `${method} ${path}{id}/`);

const prescriptions = ['POST /eprescription/prescription/', ...one('/eprescription/prescription/', 'GET', 'PATCH')];
const prescriptionItem: Where = { create: ['POST /eprescription/prescription/ prescription_items'] };
const link = 'POST /postransaction/';
const links = [link, 'GET /postransaction/{id}/', 'GET /invoice/{id}/postransactions/'];
const upload: Where = { read: ['POST /wholesaler/{id}/catalog_upload_url/'] };
const receipts = 'POST /wholesaler/{id}/receipts/';
const available = '/available_wholesaler/';
const invoices = [
  'GET /invoice/',
  'PATCH /invoice/{id}/',
  'POST /invoice/{id}/full_refund/',
  'POST /invoice/{id}/partial_refund/',
];

/** Tables of fields by section. A second table of a section also has the sentence above it in its key. */
export const fieldTables: Record<string, Where> = {
  [`${resource}: Client`]: {
    create: ['POST /client/'],
    change: ['PATCH /client/{id}/'],
    read: [...crud('/client/'), ...one('/client/', 'GET', 'PATCH')],
    list: 'GET /client/',
  },
  [`${resource}: Phone number`]: {
    create: ['POST /phonenumber/'],
    read: [...crud('/phonenumber/'), 'GET /phonenumber/{id}/'],
  },
  [`${resource}: Patient`]: {
    create: ['POST /patient/', 'POST /patient/bulk/'],
    change: ['PATCH /patient/{id}/'],
    read: [...crud('/patient/'), ...one('/patient/', 'GET', 'PATCH'), 'POST /patient/bulk/ created'],
    list: 'GET /patient/',
    answeredOnly: ['tags_rel'],
    // The row of breed_code says that a patient without a breed has null here.
    nullable: ['breed'],
  },
  [`${resource}: Consultation`]: {
    create: ['POST /consultation/'],
    read: [...crud('/consultation/'), 'GET /consultation/{id}/', 'POST /consultation/{id}/update_status/'],
    answeredOnly: ['invoice', 'consultation_items'],
    nullWritten: ['department', 'supervising_veterinarian'],
  },
  [`${resource}: Consultation diagnosis`]: {
    create: ['POST /consultation/{id}/consultationdiagnosis/'],
    read: crud('/consultation/{id}/consultationdiagnosis/'),
  },
  [`${resource}: Invoice`]: {
    change: ['PATCH /invoice/{id}/'],
    read: invoices,
    silent: 'read',
    nullable: ['date_paid'],
  },
  [`${resource}: Invoice row`]: { read: ['GET /invoicerow/'], list: 'GET /invoicerow/', silent: 'read' },
  [`${resource}: Invoice payment`]: {
    create: ['POST /invoicepayment/'],
    read: [...crud('/invoicepayment/'), 'POST /invoicepayment/{id}/cancel_payment/'],
    moreAnswered: { payment_type: 8 },
  },
  [`${resource}: Unallocated payment (prepayment)`]: {
    create: ['POST /unallocatedpayment/'],
    read: [...crud('/unallocatedpayment/'), ...one('/unallocatedpayment/', 'GET', 'PATCH')],
    moreAnswered: { payment_type: 8 },
    nullable: ['refunds'],
    // Only PATCH writes it (Endpoints).
    elsewhere: {
      external_info: {
        change: ['PATCH /unallocatedpayment/{id}/'],
        read: [...crud('/unallocatedpayment/'), ...one('/unallocatedpayment/', 'GET', 'PATCH')],
        nullable: ['external_info.external_id'],
      },
    },
  },
  [`${resource}: Postransaction (payment link)`]: {
    create: [link],
    read: links,
    nullable: ['invoice', 'prepayment_data', 'creator'],
  },
  [`${resource}: Postransaction (payment link) | \`payment_link_data\`:`]: {
    create: [`${link} payment_link_data`],
    nullWritten: ['invoice_id', 'return_url'],
  },
  [`${resource}: Online prescription | Prescription:`]: {
    create: ['POST /eprescription/prescription/'],
    nullWritten: ['consultation_id'],
  },
  [`${resource}: Department settings`]: {
    change: ['PATCH /settings/department/{id}/'],
    read: one('/settings/department/', 'GET', 'PATCH'),
    nullable: ['financial_period_lock_date'],
    elsewhere: { allow_nhp_processing: { read: ['GET /department/{id}/'], silent: 'read' } },
  },
  [`${resource}: Wholesaler integration records | Available wholesaler (\`available_wholesaler\`):`]: {
    create: [`POST ${available}`],
    change: [`PATCH ${available}{id}/`],
    read: [...crud(available), ...one(available, 'GET', 'PATCH')],
  },
  [`${endpoints}: Wholesaler integration | Receipts request, each element of \`receipt_lines\`:`]: {
    create: [`${receipts} receipt_lines`],
    nullWritten: [
      ...['product_number', 'barcode', 'product_name', 'order_id'],
      ...['invoice_number', 'invoice_date', 'batch_number', 'expiry_date'],
    ],
  },
};

/** Rows of the tables `Record | Fields`, by record. */
export const recordRows: Record<string, Where> = {
  consultationnote: {
    create: ['POST /consultation/{id}/consultationnote/'],
    read: crud('/consultation/{id}/consultationnote/'),
  },
  consultationdischargeinstruction: {
    create: ['POST /consultation/{id}/consultationdischargeinstruction/'],
    read: crud('/consultation/{id}/consultationdischargeinstruction/'),
  },
  // The specification shows no response fields except request_hash.
  appointment: { create: ['POST /appointment/'], nullWritten: ['client', 'reason', 'user'] },
  onlinebookingclient: { create: ['POST /onlinebookingclient/'] },
  onlinebookingpatient: { create: ['POST /onlinebookingpatient/'], nullWritten: ['breed'] },
};

/** The kinds of consultation items that a field applies to, by the names in their table. */
export const itemKinds = {
  create: (kind: string): string => `POST /consultation/{id}/${kind}/`,
  all: ['medicines', 'procedures', 'supplies', 'foods'],
  read: items,
};

/** Sentences that list fields, by section and first words. */
export const fieldSentences: [section: string, begins: string, where: Where][] = [
  [
    `${resource}: Patient`,
    'Further fields present in responses: ',
    {
      read: [...crud('/patient/'), ...one('/patient/', 'GET', 'PATCH'), 'POST /patient/bulk/ created'],
      silent: 'read',
      create: ['POST /patient/', 'POST /patient/bulk/'],
      change: ['PATCH /patient/{id}/'],
      // The specification does not show which of them requests write; patients.ts describes the sandbox's choice.
      alsoWritten: [
        ...['remarks', 'date_of_registration', 'insurance', 'insurance_company', 'color', 'critical_notes'],
        ...['additional_identification', 'reason_of_death', 'stable_name', 'street_address', 'street_address_2'],
        ...['zip_code', 'city', 'not_for_food', 'passport_number', 'register_number', 'date_imported', 'imported'],
        ...['holding_place_number', 'animal_code', 'herd_size', 'private', 'visible_departments', 'microchip_date'],
      ],
    },
  ],
  [
    `${resource}: Consultation items (sub-resources)`,
    'Common required fields: ',
    { create: consultation, read: items },
  ],
  [
    `${resource}: Online prescription`,
    'Prescription response fields: ',
    {
      read: prescriptions,
      silent: 'read',
      create: ['POST /eprescription/prescription/'],
      change: ['PATCH /eprescription/prescription/{id}/'],
      alsoWritten: ['status', 'remarks', 'issue_time'],
    },
  ],
  [`${resource}: Online prescription`, 'Prescription item input (required): ', prescriptionItem],
  [`${resource}: Online prescription`, 'Optional: ', prescriptionItem],
  [
    `${resource}: Online prescription`,
    'Prescription item response fields: ',
    {
      read: ['GET /eprescription/prescription_item/{id}/'],
      silent: 'read',
      create: ['POST /eprescription/prescription/ prescription_items'],
      alsoWritten: [
        'name',
        'patients',
        'strength',
        'instructions',
        'quantity_packages',
        'valid_until',
        'repeat_number',
      ],
    },
  ],
  [`${resource}: Wholesaler integration records`, 'Catalog upload (response of the upload URL request): ', upload],
  [`${endpoints}: Wholesaler integration`, 'Receipts response: ', { read: [receipts] }],
];

/** Sentences that list the values of a field, by section and first words. */
export const valueSentences: [section: string, begins: string, field: string, where: Where][] = [
  [
    'States and transitions: Consultation status',
    'Values: ',
    'status',
    {
      create: ['POST /consultation/{id}/update_status/'],
      read: [...crud('/consultation/'), 'GET /consultation/{id}/', 'POST /consultation/{id}/update_status/'],
    },
  ],
  ['States and transitions: Invoice status', 'Values: ', 'status', { read: invoices, silent: 'read' }],
  [
    'States and transitions: Prescription status',
    'Values: ',
    'status',
    {
      create: ['POST /eprescription/prescription/'],
      change: ['PATCH /eprescription/prescription/{id}/'],
      read: prescriptions,
    },
  ],
  ...['Payment statuses: ', '`payment_status`: '].map((begins): [string, string, string, Where] => [
    begins.startsWith('`') ? 'States and transitions: Payment link' : `${resource}: Postransaction (payment link)`,
    begins,
    'payment_status',
    { read: links.map((pointer) => `${pointer} payment_link`), silent: 'read' },
  ]),
  [
    `${resource}: Postransaction (payment link)`,
    'Delivery statuses: ',
    'delivery_status',
    { read: links.map((pointer) => `${pointer} payment_link`), silent: 'read' },
  ],
  [
    'States and transitions: Receipt line',
    'Status after submission: ',
    'status',
    { read: [`${receipts} receipt_lines`], silent: 'read' },
  ],
  [
    `${resource}: Consultation items (sub-resources)`,
    'The read-only flat list `consultationitem` is filtered with `type_code`: ',
    'type_code',
    { create: consultation, read: items, silent: 'read' },
  ],
  [`${endpoints}: Wholesaler integration`, '`content_type` ', 'content_type', { create: upload.read ?? [], ...upload }],
];
