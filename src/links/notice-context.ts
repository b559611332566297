import type { Caller } from '../lib/caller.ts'
import { knownDevice } from '../lib/device.ts'
import type { NoticeContext } from '../mail/message.ts'

/** How long svc tries to tell a user what happened. */
export const NOTICE_LIFETIME_MS = 24 * 3_600_000

/** What a message tells about who did something, and from where. Without a device, an operator did it. */
export const noticeContextOf = (email: string, occurredAtMs: number, device: Caller['device']): NoticeContext => ({
  email,
  occurredAtMs,
  by: device ? 'user' : 'operator',
  ...(device && { device: knownDevice(device.userAgent), address: device.address }),
})
