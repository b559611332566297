import { type Change, createChange } from '../../src/accounts/change.ts'

const ENDED = { codes: false, recoveryCodes: 0, passkeys: [], sessions: 0, grants: 0, providers: ['corp'] }

/** Changes of users at this time, and what followed from them, in order. Nothing ends, and nothing is sent. */
export const recordedChange = (nowMs: number): { change: Change; followed: string[] } => {
  const followed: string[] = []
  const note = async (...texts: unknown[]) => {
    followed.push(texts.filter((text) => text !== undefined && text !== '{}').join(' '))
  }
  const change = createChange({
    clock: { now: () => nowMs },
    recordEvent: (_, { type, details }) => note('record', type, JSON.stringify(details ?? {})),
    async announceUpdate(_, __, changed) {
      if (changed.length > 0) await note('announce', changed.join())
    },
    async applySecurityEvent(_, event) {
      await note('event', event)
      return ENDED
    },
    notify: (_, __, { kind, ...rest }) => note('mail', kind, 'how' in rest ? rest.how : undefined),
    userChanged: () => note('forget'),
    claimsChanged: () => note('claims'),
    leaveEmail: (_, { newEmail, askedAtMs }) => note('leave', newEmail, askedAtMs),
  })
  return { change, followed }
}
