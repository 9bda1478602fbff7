// Reason codes: stored with events, shown to operators, counted in metrics. One table, with what each means and what
// to do, from which the documents are generated.
export const REASONS = {
  event_type_ignored: { means: 'The type has no bearing on entitlements.', todo: 'Nothing.' },
  livemode_mismatch: {
    means: 'A test event reached a live account or the other way round. It was stored and never fetched.',
    todo: 'Correct the endpoint URL or secret in the Stripe Dashboard.',
  },
  account_mismatch: {
    means: 'The event names another (connected) account than the one that is configured.',
    todo: 'Set stripeAccount in ACCOUNTS_FILE, or give that account an endpoint of its own.',
  },
  no_tenant: {
    means: 'The customer is linked to no tenant and the event does not imply a live subscription.',
    todo: 'Nothing; it is read again when the customer is linked.',
  },
  customer_not_linked: {
    means: 'The customer has a subscription, but nobody said which tenant it is.',
    todo: 'PUT /v1/tenants/TENANT/customer, or set metadata.tenant_id in Stripe; that wakes it.',
  },
  customer_unresolved: {
    means:
      'The event names no customer, and Stripe does not know one either (or cannot be asked: payload mode).',
    todo: 'Nothing.',
  },
  unknown_at_stripe: {
    means: 'Stripe does not know the customer that the event names.',
    todo: 'Check that key, mode and account belong to the endpoint; then requeue.',
  },
  ambiguous_customer_linkage: {
    means:
      'The link would bind a tenant to a second customer of the account, or a customer to a second tenant.',
    todo: 'Find out who is right; correct the metadata or the link, then requeue.',
  },
  ambiguous_multi_subscription: {
    means:
      'The customer has two live subscriptions, and the catalog, or payload mode, says that this needs a person.',
    todo: 'End one of them (that revives the event), or set "subscriptions": "union" in the catalog.',
  },
  ambiguous_invoice_subscription: {
    means: 'The invoice names a subscription that is not one of this customer.',
    todo: 'Look at the invoice in Stripe; then resolve by hand.',
  },
  ambiguous_subscription_order: {
    means:
      'Payload mode: two events of one second say different things of a subscription; the first was applied.',
    todo: 'Look at the subscription in Stripe; then resolve by hand, or set an API key.',
  },
  ambiguous_invoice_order: {
    means: 'Payload mode: a payment succeeded and one failed within the same second; the first was applied.',
    todo: 'Look at the invoices in Stripe; then resolve by hand, or set an API key.',
  },
  stale_subscription_event: {
    means: 'Payload mode: a newer event of the subscription was applied before; this one changes nothing.',
    todo: 'Nothing; late and reordered deliveries look like this.',
  },
  stale_invoice_event: {
    means: 'Payload mode: a newer payment of the customer was applied before; this one changes nothing.',
    todo: 'Nothing; late and reordered deliveries look like this.',
  },
  subscription_not_linked: {
    means: 'Payload mode: the subscription that the invoice names has not been reported yet.',
    todo: 'Nothing; its event wakes this one. If none comes, send it again from the Stripe Dashboard.',
  },
  invoice_without_subscription: { means: 'A one-off invoice: recorded, access unchanged.', todo: 'Nothing.' },
  checkout_without_subscription: {
    means: 'A checkout that neither sells a subscription nor names a tenant.',
    todo: 'Nothing.',
  },
  unrecognized_stripe_payload: {
    means: 'The stored event cannot be read: a missing id, contradicting facts, an object of another kind.',
    todo: 'Look at the payload; report it with its API version.',
  },
  thin_event_without_data: {
    means: 'A thin event that names no object to read.',
    todo: 'Subscribe the endpoint to snapshot events.',
  },
  unmapped_stripe_price: {
    means: 'No plan of the catalog names this price, its lookup key or its product.',
    todo: 'Add the price to the catalog and deploy; requeue what is dead by then.',
  },
  unknown_subscription_status: {
    means: 'A status that this release does not know: no new access, what is held stays.',
    todo: 'Upgrade goodstanding.',
  },
  stripe_price_config_missing: { means: 'No catalog was ever loaded.', todo: 'Set CATALOG_FILE.' },
  superseded_by_live_state: {
    means: 'What the payload said differs from what Stripe says now; Stripe was followed.',
    todo: 'Nothing; late and reordered deliveries look like this.',
  },
  vanished_at_stripe: {
    means: 'A subscription that was read before is missing now. Access stays.',
    todo: 'Check key and mode. If it is really gone, ask Stripe support; unlink the customer by hand.',
  },
  stale_read_suspected: {
    means: 'Stripe answered with an older state than the event proves; it is read again after 10 s.',
    todo: 'Nothing, unless it stays open.',
  },
  double_billed: {
    means: 'One tenant pays for two base plans at once.',
    todo: 'Tell the customer; cancel one.',
  },
  live_without_tenant: {
    means:
      'Stripe has a live subscription of a customer that nobody linked to a tenant (found by the drift sweep).',
    todo: 'Link the customer (`link`), or set metadata.tenant_id in Stripe.',
  },
  drift_budget: {
    means: 'The drift sweep found more customers who would lose access than DRIFT_MAX_REVOCATIONS allows.',
    todo: 'Look at `drift show RUN`; then `drift approve RUN`, or find out why Stripe answers so.',
  },
  revocation_held: {
    means: 'What Stripe says takes access away, and an operator holds revocations just now.',
    todo: 'Nothing; it is read again when the hold ends.',
  },
  reconcile_failed: {
    means: 'A customer could not be read in 12 tries.',
    todo: 'Look at the error; the next sweep tries again.',
  },
  permission_missing: {
    means: 'The restricted key may not read this resource.',
    todo: 'Give the key read access to customers, subscriptions, invoices, invoice payments, charges and test clocks.',
  },
  stripe_rate_limited: {
    means: 'Stripe said 429, or our own budget was spent. No attempt was spent.',
    todo: 'Nothing.',
  },
  stripe_unavailable: {
    means: 'Stripe did not answer in time or with an error. No attempt was spent.',
    todo: 'Nothing; see status.stripe.com.',
  },
  stripe_unauthorized: {
    means: 'Stripe refused the key. The account is paused; a probe lifts that.',
    todo: 'Replace STRIPE_API_KEY.',
  },
  stripe_refused: { means: 'Stripe refused our request.', todo: 'Look at last_error; report it.' },
  stripe_account_changed: {
    means: 'The key belongs to another Stripe account than before. The account is paused for a person.',
    todo: 'Put the right key back.',
  },
  internal_error: {
    means: 'A bug or a database error in our own statements.',
    todo: 'Look at last_error; report it.',
  },
} as const satisfies Record<string, { means: string; todo: string }>

export type Reason = keyof typeof REASONS

/** Reasons for which an event waits by rule: no delay of ours, and shown apart. */
export const WAITING_REASONS = [
  'customer_not_linked',
  'unmapped_stripe_price',
  'subscription_not_linked',
  'stripe_price_config_missing',
] as const satisfies readonly Reason[]
