// Whose request it is: the key names the account, `Stripe-Account` another one. Nothing of one shows in another.

import type { IncomingMessage } from 'node:http'
import { FAILURES, apiError } from '../errors.ts'
import type { Tenancy } from './server.ts'

export const whoCalls = (accounts: Tenancy[], request: IncomingMessage): Tenancy => {
  const [scheme = '', given = ''] = (request.headers.authorization ?? '').split(' ')
  const basic = scheme.toLowerCase() === 'basic'
  const key = basic ? Buffer.from(given, 'base64').toString().split(':')[0] : given
  const own = accounts.find((each) => each.world.account.apiKey === key)
  if (own === undefined) throw FAILURES[401]()
  const other = request.headers['stripe-account']
  if (other === undefined) return own
  const connected = accounts.find((each) => each.world.account.id === other)
  if (connected === undefined) {
    throw apiError(403, {
      type: 'invalid_request_error',
      code: 'account_invalid',
      message: `The provided key does not have access to account '${String(other)}'`,
    })
  }
  return connected
}
