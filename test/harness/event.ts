// An event of Stripe's shape, for specs that write their own; anything may be put in its place.

export const anEvent = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'evt_1',
  object: 'event',
  type: 'customer.updated',
  api_version: '2026-10-28.endive',
  created: 1_790_000_000,
  livemode: false,
  data: { object: { id: 'cus_A', object: 'customer' } },
  ...over,
})
