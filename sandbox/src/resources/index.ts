// All endpoints of the API.
import type { RouteSpec } from '../http/route.ts';
import { accountNumberRoutes } from './account-numbers.ts';
import { accountingReportRoutes } from './accounting-reports.ts';
import { alternativePayerRoutes } from './alternative-payers.ts';
import { alternativePricingRoutes } from './alternative-pricings.ts';
import { appointmentRoutes } from './appointments.ts';
import { availableWholesalerRoutes } from './available-wholesalers.ts';
import { clientRoutes } from './clients.ts';
import { codeListRoutes } from './code-lists.ts';
import { consultationItemRoutes } from './consultation-items.ts';
import { consultationRecordRoutes } from './consultation-records.ts';
import { consultationRoutes } from './consultations.ts';
import { counterSaleRoutes } from './counter-sales.ts';
import { customFieldRoutes } from './custom-fields.ts';
import { departmentRoutes } from './departments.ts';
import { invoiceRoutes } from './invoices.ts';
import { itemRoutes } from './items.ts';
import { onlineBookingRoutes } from './online-booking.ts';
import { patientRoutes } from './patients.ts';
import { paymentRoutes } from './payments.ts';
import { phoneNumberRoutes } from './phone-numbers.ts';
import { postransactionRoutes } from './postransactions.ts';
import { prepaymentRoutes } from './prepayments.ts';
import { prescriptionRoutes } from './prescriptions.ts';
import { settingsRoutes } from './settings.ts';
import { userRoutes } from './users.ts';
import { wholesalerRoutes } from './wholesalers.ts';

export const routes: readonly RouteSpec[] = [
  ...accountingReportRoutes,
  ...accountNumberRoutes,
  ...alternativePayerRoutes,
  ...alternativePricingRoutes,
  ...availableWholesalerRoutes,
  ...appointmentRoutes,
  ...clientRoutes,
  ...codeListRoutes,
  ...consultationItemRoutes,
  ...consultationRecordRoutes,
  ...consultationRoutes,
  ...counterSaleRoutes,
  ...customFieldRoutes,
  ...departmentRoutes,
  ...invoiceRoutes,
  ...itemRoutes,
  ...patientRoutes,
  ...onlineBookingRoutes,
  ...paymentRoutes,
  ...postransactionRoutes,
  ...phoneNumberRoutes,
  ...prepaymentRoutes,
  ...prescriptionRoutes,
  ...settingsRoutes,
  ...wholesalerRoutes,
  ...userRoutes,
];
