// All routes, by area. An endpoint that is not here answers 404 "Unrecognized request URL", as an unknown one at Stripe.

import { catalogRoutes } from './routes-catalog.ts'
import { checkoutRoutes } from './routes-checkout.ts'
import { customerRoutes } from './routes-customers.ts'
import { invoiceRoutes } from './routes-invoices.ts'
import { paymentRoutes } from './routes-payments.ts'
import { platformRoutes } from './routes-platform.ts'
import { scheduleRoutes } from './routes-schedules.ts'
import { subscriptionRoutes } from './routes-subscriptions.ts'
import type { Route } from './routing.ts'

export const routes: Route[] = [
  ...platformRoutes,
  ...customerRoutes,
  ...catalogRoutes,
  ...paymentRoutes,
  ...checkoutRoutes,
  ...subscriptionRoutes,
  ...scheduleRoutes,
  ...invoiceRoutes,
]
