// Makes what waits due now, so that no spec sleeps through a back-off. Rows that a worker holds are left alone.
import type { Query } from './service.ts'

/** Every waiting event and read is due now; an account that paused for an outage goes on. */
export const hurry = async (query: Query): Promise<void> => {
  await query(`
    update goodstanding.billing_events
    set next_attempt_at = null
    where (account, event_id) in (
      select account, event_id
      from goodstanding.billing_events
      where next_attempt_at is not null and processed_at is null and dead_letter_at is null
      for update skip locked
    )`)
  await query(`
    update pgboss.job
    set start_after = now()
    where id in (
      select id
      from pgboss.job
      where (name like 'billing.event.%' or name like 'customer.reconcile.%')
        and state in ('created', 'retry') and start_after > now()
      for update skip locked
    )`)
  await query(`
    update goodstanding.accounts
    set paused_since = null, pause_cause = null, probe_at = null
    where pause_cause = 'stripe_unavailable'`)
  await query('update goodstanding.stripe_budget set blocked_until = null, slowdown = 1')
  await query(
    `select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'billing.event.default')`,
  )
}
