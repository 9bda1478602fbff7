// SQL of erasure: bodies and errors of one customer's events.
import { sql } from 'slonik'
import { z } from 'zod'
import type { CustomerKey } from '../customers/queries.ts'
import type { Queries, Transaction } from '../postgres/pool.ts'

export const hasOpenEvents = (db: Queries, { account, customerId }: CustomerKey) =>
  db.oneFirst(sql.type(z.strictObject({ open: z.boolean() }))`
    select exists (
      select 1
      from goodstanding.billing_events
      where account = ${account}
        and customer_id = ${customerId}
        and processed_at is null
    ) as open
  `)

/** Nulls bodies and errors. Returns how many rows had any. */
export const eraseCustomer = async (tx: Transaction, { account, customerId }: CustomerKey) => {
  const { rowCount: bodies } = await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set payload = null
    where account = ${account}
      and customer_id = ${customerId}
      and payload is not null
  `)
  const { rowCount: errors } = await tx.query(sql.unsafe`
    update goodstanding.billing_events
    set last_error = null
    where account = ${account}
      and customer_id = ${customerId}
      and last_error is not null
  `)
  return { bodies, errors }
}
