// The contents of the code lists of an invented installation. The ids are drawn at random for each installation.

/** Species by display code: label, and whether it is equine. */
export const speciesList: readonly (readonly [string, string, boolean])[] = [
  ['DOG', 'Dog', false],
  ['CAT', 'Cat', false],
  ['HOR', 'Horse', true],
  ['PON', 'Pony', true],
  ['DON', 'Donkey', true],
  ['RAB', 'Rabbit', false],
  ['GUI', 'Guinea pig', false],
  ['CAL', 'Cattle', false],
  ['SHE', 'Sheep', false],
  ['REI', 'Reindeer', false],
  ['BIR', 'Bird', false],
];

/** Breeds by species. */
export const breedList: Readonly<Record<string, readonly string[]>> = {
  DOG: [
    'Finnish Lapphund',
    'Finnish Spitz',
    'Labrador Retriever',
    'German Shepherd',
    'Miniature Schnauzer',
    'Mixed dog',
  ],
  CAT: ['Domestic shorthair', 'Norwegian Forest Cat', 'Ragdoll', 'Siberian', 'Mixed cat'],
  HOR: ['Finnhorse', 'Standardbred', 'Finnish warmblood'],
  PON: ['Shetland pony', 'Gotland pony'],
  RAB: ['Lionhead'],
  CAL: ['Ayrshire', 'Holstein', 'Western Finncattle'],
  SHE: ['Finnsheep'],
};

/** Diagnoses by display code. */
export const diagnosisList: Readonly<Record<string, string>> = {
  A10: 'Otitis externa',
  A12: 'Atopic dermatitis',
  A17: 'Hot spot',
  B03: 'Gastroenteritis, acute',
  B08: 'Foreign body, gastrointestinal',
  B21: 'Periodontal disease',
  B24: 'Tooth resorption',
  C02: 'Cruciate ligament rupture',
  C05: 'Hip dysplasia',
  C11: 'Lameness, cause not known',
  D04: 'Kennel cough',
  D09: 'Asthma, feline',
  E01: 'Diabetes mellitus',
  E06: 'Hyperthyroidism',
  F02: 'Cystitis',
  F07: 'Chronic kidney disease',
  F11: 'Pyometra',
  G01: 'Conjunctivitis',
  G05: 'Corneal ulcer',
  H02: 'Mastitis',
  H06: 'Colic',
  H09: 'Laminitis',
  J01: 'Tick bite',
  J04: 'Wound',
  Z00: 'Healthy at examination',
};

/**
 * practice-api, Patient: code 2 is Female, and three values exist for equine patients only. The sandbox chose the other
 * codes.
 */
export const genders: readonly { code: number; name: string; equine: boolean }[] = [
  { code: 0, name: 'Unknown', equine: false },
  { code: 1, name: 'Male', equine: false },
  { code: 2, name: 'Female', equine: false },
  { code: 3, name: 'Neutered male', equine: false },
  { code: 4, name: 'Neutered female', equine: false },
  { code: 5, name: 'Stallion', equine: true },
  { code: 6, name: 'Mare', equine: true },
  { code: 7, name: 'Gelding', equine: true },
];
