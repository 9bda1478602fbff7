// An event as it goes into the inbox, whether Stripe posted it or we asked for it.
import { createHash } from 'node:crypto'
import type { StripeAccount } from '../stripe/accounts.ts'
import { NO_TYPE, settledAtReceipt, type Envelope } from './envelope.ts'
import type { Delivery } from './store.ts'

/** `text`: the body that `envelope` was read from; `livemode`: of the account, where it is known. */
export const deliveryFrom = (
  account: StripeAccount,
  { text, envelope }: { text: string; envelope: Envelope },
  known: { livemode: boolean | null; source: Delivery['source'] },
): Delivery => {
  const { livemode, source } = known
  return {
    account: account.name,
    source,
    // Without a usable id the body's own hash tells copies apart; without a type it is dead-lettered where people look.
    eventId: envelope.eventId ?? `sha256_${createHash('sha256').update(text).digest('hex')}`,
    type: envelope.type ?? NO_TYPE,
    livemode: envelope.livemode ?? livemode ?? false,
    apiVersion: envelope.apiVersion,
    createdAt: envelope.createdAt,
    customerId: envelope.customerId,
    objectId: envelope.objectId,
    payload: text,
    ignoredReason:
      envelope.eventId === null || envelope.type === null
        ? null
        : settledAtReceipt(envelope, { livemode, connectId: account.connectId }),
  }
}
