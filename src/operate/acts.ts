// What operators do, once: the rows of the table of operations that are signed and recorded.
import { z } from 'zod'
import { accountPause, accountResume, activate } from './accounts.ts'
import { catchupReport } from './catchup.ts'
import { driftApprove, runDrift } from './drift-run.ts'
import { erase } from './erase.ts'
import { ack, addGrant, endHoldAll, holdAll, revokeGrant } from './grants.ts'
import { account, asked, customer, feature, flag, id, name, tenant, time, value, whom } from './inputs.ts'
import { operatorLink, unlink } from './link.ts'
import { reconcileNow, WAIT_MAX_MS } from './reconcile.ts'
import { requeueEvent } from './recover.ts'
import { resolveEvent } from './resolve.ts'
import { writes } from './operation.ts'

export const ACTS = {
  'catchup-store': writes(
    'operate',
    'Stores events that Stripe made and that are not in the inbox.',
    z.strictObject({ account, days: z.coerce.number().min(0.01).max(30).default(30) }),
    catchupReport,
  ),
  requeue: writes(
    'operate',
    'Gives one dead letter another life, with all its attempts.',
    asked,
    requeueEvent,
  ),
  resolve: writes(
    'operate',
    'Closes one dead letter: applied as it stands, or discarded.',
    asked.extend({ how: z.enum(['apply', 'discard']) }),
    resolveEvent,
  ),
  'findings-ack': writes('operate', 'A person has seen a finding.', z.strictObject({ finding: id }), ack),
  link: writes(
    'operate',
    'Says which tenant a customer is.',
    z.strictObject({ tenant, customer, account: name.default('default'), replace: flag }),
    (parts, input, signed) =>
      operatorLink(
        parts,
        {
          account: input.account,
          customerId: input.customer,
          tenantId: input.tenant,
          replace: input.replace,
        },
        signed,
      ),
  ),
  unlink: writes(
    'operate',
    'Takes a customer from its tenant: what it gives ends now.',
    z.strictObject({ customer, account: name.default('default') }),
    (parts, input, signed) => unlink(parts, { account: input.account, customerId: input.customer }, signed),
  ),
  reconcile: writes(
    'operate',
    'Has a customer read now and waits for it.',
    z.strictObject({
      whom,
      account,
      wait: z.coerce
        .number()
        .min(0)
        .max(WAIT_MAX_MS / 1_000)
        .default(10),
    }),
    (parts, { wait, ...input }, signed) =>
      reconcileNow(parts, { ...input, waitMs: parts.dryRun ? 0 : wait * 1_000 }, signed),
  ),
  'grant-add': writes(
    'operate',
    'Allows or denies a feature by hand, whatever Stripe says.',
    z.strictObject({
      tenant,
      feature,
      deny: flag,
      value: value.optional(),
      until: time.optional(),
      permanent: flag,
    }),
    addGrant,
  ),
  'grant-revoke': writes('operate', 'Ends a grant or denial.', z.strictObject({ grant: id }), revokeGrant),
  'hold-revocations': writes(
    'admin',
    'Nobody loses access until then, whatever is read or ends.',
    z.strictObject({ account, until: time }),
    holdAll,
  ),
  'hold-end': writes('admin', 'Ends a hold of revocations.', z.strictObject({ account }), endHoldAll),
  activate: writes(
    'admin',
    'Ends the first hold of an account with real money.',
    z.strictObject({ account: name }),
    activate,
  ),
  'account-pause': writes(
    'admin',
    'Stops all reads of an account.',
    z.strictObject({ account: name }),
    accountPause,
  ),
  'account-resume': writes(
    'admin',
    'Lifts any pause of an account.',
    z.strictObject({ account: name }),
    accountResume,
  ),
  'drift-run': writes(
    'operate',
    'Compares a whole account with Stripe and follows it within the budget.',
    z.strictObject({ account: name.default('default') }),
    (parts, input) =>
      runDrift(parts, { account: input.account, dryRun: parts.dryRun, maxRevocations: parts.maxRevocations }),
  ),
  'drift-approve': writes(
    'admin',
    'Follows a comparison past the budget.',
    z.strictObject({ run: id }),
    driftApprove,
  ),
  erase: writes(
    'admin',
    "Erases one customer's data; the trail keeps its skeleton.",
    z.strictObject({ whom, account }),
    erase,
  ),
} as const
