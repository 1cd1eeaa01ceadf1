import type { Route } from './route.ts';
import { accountRoutes } from './screens/account/routes.ts';
import { actionsRoutes } from './screens/actions/routes.ts';
import { auditRoutes } from './screens/audit/routes.ts';
import { clinicsRoutes } from './screens/clinics/routes.ts';
import { decideRoutes } from './screens/decide/routes.ts';
import { deliveryRoutes } from './screens/delivery/routes.ts';
import { documentsRoutes } from './screens/documents/routes.ts';
import { machineRoutes } from './screens/machine/routes.ts';
import { mappingRoutes } from './screens/mapping/routes.ts';
import { monthRoutes } from './screens/month/routes.ts';
import { reportsRoutes } from './screens/reports/routes.ts';
import { openIdRoutes } from './screens/sign-in/openid-routes.ts';
import { signInRoutes } from './screens/sign-in/routes.ts';
import { usersRoutes } from './screens/users/routes.ts';
import { windowsRoutes } from './screens/windows/routes.ts';

/** Every route of the console. `checkRoutes` refuses a table in which a route could act without a right or a record. */
export const routes: readonly Route[] = [
  ...signInRoutes,
  ...openIdRoutes,
  ...accountRoutes,
  ...actionsRoutes,
  ...clinicsRoutes,
  ...monthRoutes,
  ...decideRoutes,
  ...documentsRoutes,
  ...reportsRoutes,
  ...mappingRoutes,
  ...deliveryRoutes,
  ...windowsRoutes,
  ...auditRoutes,
  ...machineRoutes,
  ...usersRoutes,
];
