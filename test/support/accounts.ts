/** An account for every role, as the tests' mappings name them. */
export const accountsByRole = {
  receivable: '1700',
  opening_receivable: '1709',
  card_clearing: '1920',
  cash: '1900',
  bank_clearing: '1910',
  rounding: '3990',
  cheque_clearing: '1922',
  voucher_liability: '2410',
  consolidation_clearing: '1790',
  mobile_clearing: '1921',
  prepayment_liability: '2400',
  gift_card_liability: '2411',
  financing_receivable: '1715',
  other_clearing: '1929',
  credit_settlement: '1791',
  insurance_receivable: '1710',
};
