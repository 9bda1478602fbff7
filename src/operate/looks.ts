// What operators look at, once: the rows of the table of operations that change nothing.
import { z } from 'zod'
import { auditList, queues } from './audit.ts'
import { catchupReport } from './catchup.ts'
import { customerShow, customerTimeline, unlinkedCustomers, unmappedPrices } from './customers.ts'
import { driftList, driftShow } from './drift-run.ts'
import { deadGroups, deadShow, events, eventShow } from './events.ts'
import { why } from './explain.ts'
import { findings, listGrants } from './grants.ts'
import {
  account,
  asked,
  eventFilter,
  feature,
  flag,
  id,
  limit,
  nothing,
  reason,
  tenant,
  time,
  whom,
} from './inputs.ts'
import { status } from './status.ts'
import { auditVerify } from './verify.ts'
import { reads } from './operation.ts'

export const LOOKS = {
  status: reads('read', 'Everything at a glance.', nothing, (parts) => status(parts)),
  'events-list': reads('explain', 'Events, newest first.', eventFilter, events),
  'events-show': reads('explain', 'One event with its attempts, without its body.', asked, eventShow),
  'dead-list': reads(
    'explain',
    'Dead letters, newest first, with what to do about each.',
    z.strictObject({ account, reason: reason.optional(), limit }),
    (parts, input) => events(parts, { ...input, state: 'dead' }),
  ),
  'dead-groups': reads('explain', 'Dead letters by what they died of.', nothing, (parts) =>
    deadGroups(parts),
  ),
  'dead-show': reads('explain', 'One event beside what is stored and what Stripe says now.', asked, deadShow),
  'customer-show': reads(
    'explain',
    'All that is known of a customer or tenant.',
    z.strictObject({ whom, account }),
    customerShow,
  ),
  'customer-timeline': reads(
    'explain',
    'What happened to a customer or tenant, newest first.',
    z.strictObject({ whom, account, limit }),
    customerTimeline,
  ),
  'customers-unlinked': reads(
    'explain',
    'Customers of no tenant for whom something waits.',
    z.strictObject({ account, limit }),
    unlinkedCustomers,
  ),
  'catalog-unmapped': reads('explain', 'Prices in use that no plan names.', nothing, (parts) =>
    unmappedPrices(parts),
  ),
  why: reads(
    'explain',
    'Why a tenant may, or may not, use a feature.',
    z.strictObject({ tenant, feature, at: time.describe('What was believed then.').optional(), live: flag }),
    why,
  ),
  'findings-list': reads(
    'explain',
    'What a person should look at.',
    z.strictObject({ account, code: reason.optional(), all: flag, limit }),
    findings,
  ),
  'grant-list': reads(
    'explain',
    'Grants and denials by hand.',
    z.strictObject({ tenant: tenant.optional(), all: flag, limit }),
    listGrants,
  ),
  'drift-list': reads('explain', 'The last comparisons with Stripe.', z.strictObject({ limit }), driftList),
  'drift-show': reads(
    'explain',
    'One comparison with all its differences.',
    z.strictObject({ run: id }),
    driftShow,
  ),
  'audit-list': reads(
    'admin',
    'What people did, newest first.',
    z.strictObject({ since: time.optional(), until: time.optional(), limit }),
    auditList,
  ),
  'audit-verify': reads('explain', 'Whether what is promised holds in this database.', nothing, (parts) =>
    auditVerify(parts),
  ),
  queue: reads('explain', 'The queues of pg-boss by state.', nothing, (parts) => queues(parts)),
  catchup: reads(
    'operate',
    'The inbox beside the events that Stripe made; asks Stripe.',
    z.strictObject({ account, days: z.coerce.number().min(0.01).max(30).default(30) }),
    (parts, input) => catchupReport(parts, input, null),
  ),
} as const
