// Which answer is shown how. Complete: an operation without a rendering does not compile.
import type { DataOf, OperationName } from '../operate/operations.ts'
import {
  renderAudit,
  renderCustomer,
  renderDrift,
  renderDriftRun,
  renderDriftRuns,
  renderGrants,
  renderReconciled,
  renderTimeline,
  renderUnlinked,
  renderUnmapped,
  renderVerified,
  renderWhy,
} from './render-customers.ts'
import {
  renderBeside,
  renderCatchup,
  renderDead,
  renderEvent,
  renderEvents,
  renderFindings,
  renderGroups,
  renderQueues,
  renderStatus,
} from './render-inbox.ts'

type Renderings = { [Name in OperationName]: (data: DataOf<Name>) => string[] }

const done = ({ event, status, epoch }: DataOf<'requeue'>) => [
  status === 'pending'
    ? `${event} is pending again, in its life ${epoch}, and runs at once.`
    : `${event} is closed.`,
]
const accountIs = ({ account, state }: DataOf<'activate'>) => [
  `Account ${account} ${state === 'runs' ? 'runs' : 'is paused: events are stored, nothing is applied until `account resume`'}.`,
]

export const RENDER: Renderings = {
  status: renderStatus,
  'events-list': renderEvents,
  'events-show': renderEvent,
  'dead-list': renderDead,
  'dead-groups': renderGroups,
  'dead-show': renderBeside,
  'customer-show': renderCustomer,
  'customer-timeline': renderTimeline,
  'customers-unlinked': renderUnlinked,
  'catalog-unmapped': renderUnmapped,
  why: renderWhy,
  'findings-list': renderFindings,
  'findings-ack': ({ code, subject }) => [`${code} (${subject}) was seen; it stays open until it is over.`],
  'grant-list': renderGrants,
  'grant-add': (grant) => renderGrants([grant]),
  'grant-revoke': (grant) => renderGrants([grant]),
  'drift-list': renderDriftRuns,
  'drift-show': renderDriftRun,
  'drift-run': renderDrift,
  'drift-approve': (run) => renderDriftRuns([run]),
  'audit-list': renderAudit,
  'audit-verify': renderVerified,
  queue: renderQueues,
  catchup: renderCatchup,
  'catchup-store': renderCatchup,
  requeue: done,
  resolve: done,
  link: ({ tenantId, customerId, result }) => [`${customerId} is ${tenantId} (${result}).`],
  unlink: ({ customer, tenant }) => [`${customer} belongs to no tenant any more; it was ${tenant}.`],
  reconcile: renderReconciled,
  'hold-revocations': ({ account, until }) => [
    `Nobody of ${account ?? 'any account'} loses access until ${until}.`,
  ],
  'hold-end': ({ account }) => [
    `Revocations of ${account ?? 'all accounts'} go on; what was held is read again.`,
  ],
  activate: accountIs,
  'account-pause': accountIs,
  'account-resume': accountIs,
  erase: (erased) =>
    erased.map(
      ({ customer, bodies, errors }) => `${customer}: ${bodies} bodies and ${errors} errors erased.`,
    ),
}
