// What a person does to a whole account: end its first hold, stop it, let it go on.
import { endHold, pauseAccount, resumeAccount } from '../stripe/queries.ts'
import { rollBackWith, type Transaction } from '../postgres/pool.ts'
import { accountNamed, answer, refuse, sign, type Answer, type Parts, type Signed } from './parts.ts'

export type AccountState = { account: string; state: 'runs' | 'paused' }
type Named = { account: string }

/** Ends the hold in which an account with real money starts. */
export const activate = (parts: Parts, input: Named, signed: Signed): Promise<Answer<AccountState>> =>
  onAccount(parts, input, signed, {
    verb: 'activate',
    act: endHold,
    before: { hold: true },
    after: { hold: false },
    state: 'runs',
    refused: 'is not in hold',
  })

/** Stops all reads of an account: its events are stored, nothing is applied, until `account resume`. */
export const accountPause = (parts: Parts, input: Named, signed: Signed): Promise<Answer<AccountState>> =>
  onAccount(parts, input, signed, {
    verb: 'account pause',
    act: (tx, account) => pauseAccount(tx, { account, cause: 'paused_by_operator', probeMs: null }),
    before: { paused: false },
    after: { paused: true },
    state: 'paused',
    refused: 'is paused already',
  })

/** Lifts any pause, also one that no probe may lift. */
export const accountResume = (parts: Parts, input: Named, signed: Signed): Promise<Answer<AccountState>> =>
  onAccount(parts, input, signed, {
    verb: 'account resume',
    act: resumeAccount,
    before: { paused: true },
    after: { paused: false },
    state: 'runs',
    refused: 'is not paused',
  })

type How = {
  verb: string
  act: (tx: Transaction, account: string) => Promise<boolean>
  before: Record<string, unknown>
  after: Record<string, unknown>
  state: AccountState['state']
  refused: string
}

const onAccount = async (
  parts: Parts,
  { account: name }: Named,
  signed: Signed,
  how: How,
): Promise<Answer<AccountState>> => {
  const account = accountNamed(parts, name)
  if ('kind' in account) return account
  return parts.database.transaction<Answer<AccountState>>(async (tx) => {
    const { verb, before, after } = how
    if (!(await how.act(tx, name)))
      return rollBackWith<Answer<AccountState>>(refuse('conflict', `Account ${name} ${how.refused}.`))
    await sign(tx, signed, { verb, target: name, before, after })
    return answer({ account: name, state: how.state })
  })
}
