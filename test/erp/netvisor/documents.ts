// The form of Netvisor's documents: the elements in their order, as in its document types, and the values of its
// documentation. The fake checks requests and its own answers with it. The parser is small and shares nothing with the
// target; it knows no more of XML than these documents need.

export interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

/** A document that does not have the form. */
export class WrongDocument extends Error {}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const plain = (text: string) => text.replace(/&(\w+);/g, (_, name: string) => entities[name] ?? `?${name}?`);

export function parse(document: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  for (const [, text, closes, name = '', attributes = ''] of document.matchAll(/([^<]+)|<(\/?)([\w-]+)([^>]*)>/g)) {
    const inner = open.at(-1);
    if (inner === undefined) throw new WrongDocument('closed too often');
    if (text !== undefined) inner.text += plain(text);
    else if (closes === '/') {
      if (inner.name !== name) throw new WrongDocument(`</${name}> after <${inner.name}>`);
      open.pop();
    } else {
      const pairs = [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        plain(value),
      ]);
      const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' };
      inner.children.push(element);
      if (!attributes.endsWith('/')) open.push(element);
    }
  }
  const [root] = top.children;
  if (root === undefined || open.length !== 1 || top.children.length !== 1) throw new WrongDocument('no single root');
  return root;
}

const vatCodes = 'NONE|KOOS|EUOS|EUUO|EUPO|100|KOMY|EUMY|EUUM|EUPM312|EUPM309|MUUL|EVTO|EVPO|RAMY|RAOS|EVRO|EVKV|KAVE';

/**
 * Each element with the elements in it: `?` at most one, `*` any number, `+` at least one. Or the pattern of its text.
 * `attributes`: the pattern of each required attribute.
 */
interface Model {
  children?: string;
  text?: RegExp;
  attributes?: Record<string, RegExp>;
}

const anyText = /(?:)/;
const upTo255 = /^.{1,255}$/su;
const key = /^\d+$/;

export const voucherRequest: Record<string, Model> = {
  root: { children: 'voucher' },
  voucher: {
    children: 'calculationmode voucherdate number? description? voucherclass checked? comment? voucherline+',
  },
  calculationmode: { text: /^(?:net|gross)$/ },
  voucherdate: { text: /^\d{4}-\d\d-\d\d$/, attributes: { format: /^ansi$/ } },
  number: { text: /^\d{1,9}$/ },
  description: { text: upTo255 },
  voucherclass: { text: /^.+$/ },
  checked: { text: /^(?:true|false)$/ },
  comment: { text: upTo255 },
  voucherline: { children: 'linesum description? accountnumber vatpercent accountdimension? dimension*' },
  linesum: { text: /^-?\d+(?:,\d{1,2})?$/, attributes: { type: /^(?:net|gross)$/ } },
  accountnumber: { text: key },
  vatpercent: { text: /^\d+(?:,\d{1,2})?$/, attributes: {} },
  dimension: { children: 'dimensionname dimensionitem' },
  dimensionname: { text: /^.+$/ },
  dimensionitem: { text: /^.+$/ },
};

export const invalidation: Record<string, Model> = {
  root: { children: 'invalidatevouchers' },
  invalidatevouchers: { children: 'comment? invalidatevoucher+', attributes: { identifier: /^netvisorkey$/ } },
  comment: { text: upTo255 },
  invalidatevoucher: { text: key },
};

const date = /^\d{1,2}\.\d{1,2}\.\d{4}$/;
const amount = /^-?\d+(?:,\d{1,2})?$/;
const ansi = { format: /^ansi$/ };

/** The answers, in the form of recorded ones. */
export const answers: Record<string, Model> = {
  Root: {
    children:
      'ResponseStatus Replies? AccountList? VoucherTypeList? DimensionNameList? AccountingPeriodList? Vouchers?',
  },
  ResponseStatus: { children: 'Status Status? TimeStamp' },
  Status: { text: /^(?:OK|FAILED|[A-Z_]+ :: .+)$/ },
  TimeStamp: { text: /^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d\d:\d\d$/ },
  Replies: { children: 'InsertedDataIdentifier' },
  InsertedDataIdentifier: { text: key },
  AccountList: { children: 'Accounts' },
  Accounts: { children: 'Account*' },
  Account: { children: 'NetvisorKey Number Name AccountType FatherNetvisorKey IsActive' },
  NetvisorKey: { text: key },
  Number: { text: /^\d*$/ },
  Name: { text: anyText },
  AccountType: { text: /^account(?:group)?$/ },
  FatherNetvisorKey: { text: key },
  IsActive: { text: /^[01]$/ },
  VoucherTypeList: { children: 'VoucherTypes' },
  VoucherTypes: { children: 'VoucherType+' },
  VoucherType: { children: 'NetvisorKey Abbreviation Name ForeignName*' },
  Abbreviation: { text: /^.+$/ },
  ForeignName: { text: /^.+$/, attributes: { 'ISO-639-1': /^(?:fi|en|sv)$/ } },
  DimensionNameList: { children: 'DimensionName*' },
  DimensionDetails: { children: 'DimensionDetail*' },
  DimensionDetail: { children: 'Netvisorkey Name IsHidden Level Sort EndSort FatherID' },
  Netvisorkey: { text: key },
  IsHidden: { text: /^(?:True|False)$/ },
  LinkType: { text: key },
  Level: { text: key },
  Sort: { text: key },
  EndSort: { text: key },
  FatherID: { text: key },
  AccountingPeriodList: { children: 'PeriodLockInformation Period*' },
  PeriodLockInformation: { children: 'AccountingPeriodLockDate? VatPeriodLockDate? PurchaseLockDate?' },
  AccountingPeriodLockDate: { text: date, attributes: ansi },
  VatPeriodLockDate: { text: date, attributes: ansi },
  PurchaseLockDate: { text: date, attributes: ansi },
  Period: { children: 'NetvisorKey Name BeginDate EndDate' },
  BeginDate: { text: date, attributes: ansi },
  EndDate: { text: date, attributes: ansi },
  Vouchers: { children: 'Voucher*' },
  Voucher: {
    children:
      'NetvisorKey VoucherDate VoucherNumber VoucherDescription VoucherClass LinkedSourceNetvisorKey VoucherNetvisorURI VoucherLine*',
    attributes: { Status: /^(?:valid|invalidated|deleted)$/ },
  },
  VoucherDate: { text: date },
  VoucherNumber: { text: key },
  VoucherDescription: { text: anyText },
  VoucherClass: { text: /^\S+ .+$/ },
  LinkedSourceNetvisorKey: { text: /^\d*$/ },
  VoucherNetvisorURI: { text: /^https:/ },
  VoucherLine: { children: 'NetvisorKey LineSum Description AccountNumber VatPercent VatCode Dimension*' },
  LineSum: { text: amount },
  Description: { text: anyText },
  AccountNumber: { text: key },
  VatPercent: { text: amount },
  VatCode: { text: new RegExp(`^(?:-|${vatCodes})$`) },
  Dimension: { children: 'DimensionName DimensionItem' },
  DimensionItem: { text: anyText },
};
/** A dimension's name is a text in the ledger, and a record in the list of dimensions. */
const dimensionRecord: Model = { children: 'Netvisorkey Name IsHidden LinkType DimensionDetails' };

/** Throws WrongDocument if an element is unknown, is not in its place, or has another text or attribute. */
export function validate(element: Element, models: Record<string, Model>): void {
  const { name, attributes, children, text } = element;
  const model = name === 'DimensionName' ? (children.length > 0 ? dimensionRecord : { text: anyText }) : models[name];
  if (model === undefined) throw new WrongDocument(`<${name}> is unknown`);
  for (const [attribute, pattern] of Object.entries(model.attributes ?? {}))
    if (!pattern.test(attributes[attribute] ?? '')) throw new WrongDocument(`<${name} ${attribute}>`);
  if (name === 'vatpercent' && 'vatcode' in attributes && !vatCodes.split('|').includes(attributes.vatcode ?? ''))
    throw new WrongDocument('vatcode');
  if (model.children === undefined) {
    if (children.length > 0 || !(model.text ?? anyText).test(text)) throw new WrongDocument(`<${name}>${text}`);
    return;
  }
  const parts = model.children.split(' ').map((part) => {
    const [, child = '', times = ''] = /^([\w]+)([?*+]?)$/.exec(part) ?? [];
    return `(?:${child} )${times}`;
  });
  const order = children.map((child) => `${child.name} `).join('');
  if (!new RegExp(`^${parts.join('')}$`).test(order)) throw new WrongDocument(`<${name}> has ${order}`);
  for (const child of children) validate(child, models);
}

const encodable = new Set(new TextDecoder('iso-8859-15').decode(Uint8Array.from({ length: 256 }, (_, code) => code)));

/** Whether a document can be sent in Netvisor's encoding. */
export function isEncodable(document: string): boolean {
  return [...document].every((character) => encodable.has(character));
}
