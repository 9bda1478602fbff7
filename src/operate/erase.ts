// Erasure: one customer's personal data goes, the skeleton of the trail stays. What we hold of a person is in the bodies
// of events and in errors; ids, types, times and outcomes name nobody by themselves.
import { insertAudit } from '../audit/queries.ts'
import { groupOf } from '../jobs.ts'
import { lockGroup } from '../postgres/lock.ts'
import { rollBackWith } from '../postgres/pool.ts'
import { customersNamed, type Whom } from './customers.ts'
import { eraseCustomer, hasOpenEvents } from './erase-queries.ts'
import { answer, refuse, sign, type Answer, type Parts, type Signed } from './parts.ts'

export type Erased = { account: string; customer: string; bodies: number; errors: number }[]

/** Erases what is stored of a customer (of all customers of a tenant). Refused while an event of theirs is not settled. */
export const erase = (parts: Parts, input: Whom, signed: Signed): Promise<Answer<Erased>> =>
  parts.database.transaction<Answer<Erased>>(async (tx) => {
    const rows = await customersNamed(tx, input)
    if ('kind' in rows) return rollBackWith<Answer<Erased>>(rows)
    const erased: Erased = []
    for (const { account, customer_id: customerId } of rows) {
      await lockGroup(tx, groupOf(account, customerId, ''))
      if (await hasOpenEvents(tx, { account, customerId }))
        return rollBackWith<Answer<Erased>>(
          refuse(
            'conflict',
            `Events of ${customerId} are pending or dead: settle them first (events list --customer).`,
          ),
        )
      const counts = await eraseCustomer(tx, { account, customerId })
      await insertAudit(tx, {
        account,
        eventId: null,
        epoch: null,
        customerId,
        subscriptionId: null,
        kind: 'erased',
        reason: 'operator',
        detail: counts,
      })
      await sign(tx, signed, { verb: 'erase', target: `${account} ${customerId}`, after: counts })
      erased.push({ account, customer: customerId, ...counts })
    }
    return answer(erased)
  })
