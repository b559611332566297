import assert from 'node:assert/strict'
import type { Core } from '../../../src/core.ts'
import { newAgent, newPerson, type Person, signUp, currentUser } from '../client/accounts.ts'
import type { TurnedClock } from '../clock/turned-clock.ts'
import type { Service } from '../service/service.ts'
import { codeAt, wrongCodeAt } from './authenticator-app.ts'

const STEP_MS = 30_000

/** An account with an authenticator app and recovery codes. */
export type AccountWithCodes = {
  id: string
  person: Person
  recoveryCodes: string[]
  /** A code that was not used before: half a minute passes. */
  nextCode(): Promise<string>
  wrongCode(): string
}

/** Sets up an app for an account, as its user does. Their sessions end. */
export const setUpCodes = async (
  { core, clock }: { core: Core; clock: TurnedClock },
  { id, person }: Pick<AccountWithCodes, 'id' | 'person'>,
): Promise<AccountWithCodes> => {
  const { secondFactors, db } = core
  const owner = { userId: id, boundTo: 'a session' }
  const { secret, sealed } = await secondFactors.beginSetUp(owner, person.email)
  const code = codeAt(secret, Date.now())
  const { recoveryCodes = [], apply } = await secondFactors.checkSetUp(owner, { sealed, code })
  await db.inTransaction((transaction) => apply(transaction, {}))
  return {
    id,
    person,
    recoveryCodes,
    async nextCode() {
      await clock.turnTo(clock.aheadMs() + STEP_MS)
      return codeAt(secret, clock.now())
    },
    wrongCode: () => wrongCodeAt(secret, clock.now()),
  }
}

/** A new account that has one. */
export const newAccountWithCodes = async (at: {
  service: Service
  core: Core
  clock: TurnedClock
}): Promise<AccountWithCodes> => {
  const person = newPerson()
  const agent = newAgent(at.service)
  assert.equal((await signUp(agent, person)).status, 303)
  return setUpCodes(at, { id: (await currentUser(agent)).id, person })
}
