// `activate ACCOUNT`: ends the hold in which an account with real money starts. Recorded with name and reason.
import { insertOperatorAction } from '../audit/queries.ts'
import type { Config } from '../config.ts'
import { EXIT } from '../exit.ts'
import { endHold } from '../stripe/queries.ts'
import { withOperatorDatabase, type Signed } from './operator.ts'
import type { Out } from './program.ts'

/** Activates an account; exit code 5 where it is not configured, 6 where it is not in hold. */
export const activate = (config: Config, input: Signed & { account: string }, out: Out): Promise<number> => {
  if (!config.accounts.some(({ name }) => name === input.account)) {
    out.problem(
      `There is no account ${input.account}; configured: ${config.accounts.map(({ name }) => name).join(', ')}.`,
    )
    return Promise.resolve(EXIT.not_found)
  }
  return withOperatorDatabase(config, out, async (database) => {
    const activated = await database.transaction(async (tx) => {
      if (!(await endHold(tx, input.account))) return false
      const { operator, reason, account: target } = input
      await insertOperatorAction(tx, {
        operator,
        reason,
        verb: 'activate',
        target,
        before: { hold: true },
        after: { hold: false },
      })
      return true
    })
    out.result(activated ? `Account ${input.account} is active.` : `Account ${input.account} is not in hold.`)
    return activated ? EXIT.ok : EXIT.conflict
  })
}
