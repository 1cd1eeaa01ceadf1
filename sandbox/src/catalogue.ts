// The items that the invented clinic sells, and its clients. All names are invented.
import type { Client, Department, VatGroup } from './records.ts';
import type { Rng } from './rng.ts';

export const vatGroups = {
  general: { name: 'VAT 25.5 %', percentage: '25.50', account_number: '2931' },
  reduced: { name: 'VAT 14 %', percentage: '14.00', account_number: '2932' },
  low: { name: 'VAT 10 %', percentage: '10.00', account_number: '2933' },
  exempt: { name: 'VAT 0 %', percentage: '0.00', account_number: '2934' },
  euService: { name: 'EU sales 0 %', percentage: '0.00', account_number: '2935' },
  reducedNow: { name: 'VAT 13.5 %', percentage: '13.50', account_number: '2932' },
} satisfies Record<string, VatGroup>;

/** The first day of the reduced rate of 13.5 % in Finland, which was 14 % before. */
const reducedNowFrom = '2026-01-01';

/** The VAT group in which an item is sold on a day. */
export const vatGroupOn = (group: VatGroup, day: string): VatGroup =>
  group === vatGroups.reduced && day >= reducedNowFrom ? vatGroups.reducedNow : group;

/**
 * The account of gift cards. Selling one is a liability on this account and no revenue; using one reduces the same
 * account.
 */
export const giftCardAccount = '2411';

export const revenueAccounts: Record<string, string> = {
  [giftCardAccount]: 'Gift cards',
  '3000': 'Consultations',
  '3010': 'Surgery and anaesthesia',
  '3020': 'Laboratory',
  '3030': 'Imaging',
  '3100': 'Medicines',
  '3110': 'Supplies',
  '3120': 'Pet food',
  '3130': 'Publications',
  '3200': 'Home and farm visits',
  '3300': 'Statements and certificates',
  '3900': 'Discounts given',
};

export interface Item {
  name: string;
  account: keyof typeof revenueAccounts;
  /** The VAT group; `vatGroupOn` has the one of a day. */
  vat: VatGroup;
  /** Lowest and highest price with VAT. */
  from: number;
  to: number;
  shop?: boolean;
  dimension?: string;
}

const { general, reduced, low, exempt } = vatGroups;

export const items: readonly Item[] = [
  { name: 'Consultation, small animal', account: '3000', vat: general, from: 62, to: 98 },
  { name: 'Evening surcharge', account: '3000', vat: general, from: 35, to: 60 },
  { name: 'Vaccination', account: '3000', vat: general, from: 38, to: 72 },
  { name: 'Castration, cat', account: '3010', vat: general, from: 110, to: 190, dimension: 'SURG' },
  { name: 'Dental scaling and extractions', account: '3010', vat: general, from: 260, to: 890, dimension: 'SURG' },
  { name: 'Anaesthesia', account: '3010', vat: general, from: 85, to: 240, dimension: 'SURG' },
  { name: 'Blood count', account: '3020', vat: general, from: 42, to: 88, dimension: 'LAB' },
  { name: 'Urine sample', account: '3020', vat: general, from: 24, to: 46, dimension: 'LAB' },
  { name: 'X-ray, two views', account: '3030', vat: general, from: 120, to: 230, dimension: 'IMG' },
  { name: 'Ultrasound examination', account: '3030', vat: general, from: 140, to: 260, dimension: 'IMG' },
  { name: 'Antibiotic course', account: '3100', vat: reduced, from: 14, to: 62 },
  { name: 'Anti-inflammatory suspension', account: '3100', vat: reduced, from: 18, to: 74 },
  { name: 'Worming tablets', account: '3100', vat: reduced, from: 8, to: 24, shop: true },
  { name: 'Bandage material', account: '3110', vat: general, from: 4, to: 29 },
  { name: 'Protective collar', account: '3110', vat: general, from: 9, to: 26, shop: true },
  { name: 'Tick tweezers', account: '3110', vat: general, from: 5, to: 12, shop: true },
  { name: 'Diet food, dry, 4 kg', account: '3120', vat: reduced, from: 32, to: 69, shop: true },
  { name: 'Diet food, tin', account: '3120', vat: reduced, from: 2, to: 5, shop: true },
  { name: 'Pet magazine, half a year', account: '3130', vat: low, from: 9, to: 19, shop: true },
  { name: 'Home visit', account: '3200', vat: general, from: 70, to: 160 },
  { name: 'Insurance statement', account: '3300', vat: exempt, from: 20, to: 45 },
];

export const departments = (): Department[] => {
  const department = (id: number, name: string, prefix: string): Department => ({
    id,
    name,
    prefix,
    // Invoice numbers of real clinics exceed 32 bits.
    next_invoice_number: id * 1_000_000_000 + 1,
    financial_period_lock_date: null,
    automatic_financial_period_lock_enabled: false,
    automatic_financial_period_lock_day: 10,
    payment_cancel_set_date: true,
    enable_communication_preferences: false,
    // The mobile practice takes payment on the spot only.
    allow_nhp_processing: id !== 13,
    prescription_fee_item: null,
  });
  return [
    department(11, 'Kuusikko Animal Hospital', 'KU'),
    department(12, 'Ranta Veterinary Clinic', 'RA'),
    department(13, 'Pelto Mobile Practice', 'PE'),
  ];
};

const firstNames = [
  'Aino',
  'Eero',
  'Helmi',
  'Ilmari',
  'Kerttu',
  'Lauri',
  'Minea',
  'Niilo',
  'Oona',
  'Paavo',
  'Saimi',
  'Tapio',
  'Venla',
  'Väinö',
  'Åke',
];
const lastNames = [
  'Harjula',
  'Isokivi',
  'Kallionpää',
  'Lehtolampi',
  'Mustaniitty',
  'Niemelänoja',
  'Ojanranta',
  'Pihlajasuo',
  'Rantakorpi',
  'Sammalkoski',
  'Tuulenpesä',
  'Öhmansson',
];
const companyNames = [
  'Kivilammen Talli',
  'Saaren Lypsy',
  'Pohjoisvalo Kennel',
  'Hopeakuu Ravitalli',
  'Metsänreunan Eläinsuoja',
  'Kaislan Tila',
];
const euCompanies = [
  ['Nordhof Gestüt', 'DE', 'Germany', 'Lübstedt'],
  ['Haras du Vallon', 'FR', 'France', 'Montclair-sur-Orle'],
  ['Põhja Kennel', 'EE', 'Estonia', 'Kivilinn'],
] as const;
const streets = ['Havukuja', 'Kanervatie', 'Myllypolku', 'Rantaraitti', 'Siltakatu', 'Tähkäkuja'];
const cities = [
  ['01999', 'Kuusniemi'],
  ['33998', 'Rantalahti'],
  ['90997', 'Peltovaara'],
] as const;

type NewClient = Omit<Client, 'id' | 'created' | 'modified'>;

/** An invented client: private, a company, or an EU company. */
export const inventClient = (rng: Rng, serial: number): NewClient => {
  const customer_type = rng.weighted([
    [0, 84],
    [1, 12],
    [2, 4],
  ] as const);
  const eu = rng.pick(euCompanies);
  const firstname = customer_type === 0 ? rng.pick(firstNames) : '';
  const lastname = customer_type === 0 ? rng.pick(lastNames) : '';
  const company = rng.pick(companyNames);
  const organization_name =
    customer_type === 0 ? '' : customer_type === 1 ? `${company} ${serial} Oy` : `${eu[0]} ${serial}`;
  const [zip, home] = rng.pick(cities);
  const isEu = customer_type === 2;
  const register = String(1_000_000 + serial * 7919).slice(-7);
  return {
    firstname,
    lastname,
    organization_name,
    email: `client${serial}@example.org`,
    country: isEu ? eu[1] : 'FI',
    customer_type,
    no_sms: rng.chance(0.1),
    no_email: rng.chance(0.05),
    archived: rng.chance(0.03),
    preferences_stated_at: null,
    payer: {
      payer_name: customer_type === 0 ? `${firstname} ${lastname}` : '',
      payer_organization_name: organization_name,
      payer_id_number: '',
      payer_register_number: customer_type === 1 ? `${register}-${serial % 10}` : '',
      payer_vat_number: customer_type === 0 ? '' : `${isEu ? eu[1] : 'FI'}${register}${serial % 10}`,
      payer_street_address: `${rng.pick(streets)} ${rng.int(1, 80)}`,
      payer_street_address_2: rng.chance(0.1) ? `as ${rng.int(1, 40)}` : '',
      payer_zip_code: isEu ? '10999' : zip,
      payer_city: isEu ? eu[3] : home,
      payer_state: '',
      payer_country: isEu ? eu[2] : 'Finland',
      payer_country_code: isEu ? eu[1] : 'FI',
    },
  };
};
