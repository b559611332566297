import { canonicalAddress } from '../../lib/address.ts'
import type { KnownDevice } from '../../lib/device.ts'
import type { Message } from '../message.ts'
import { messageTexts as texts } from './texts.ts'
import { isAboutOwnAccount } from './words.ts'

/** A label and its value. */
export type Fact = readonly [label: string, value: string]

/** "22 November 2026 at 16:53 UTC" */
export const momentText = (atMs: number): string =>
  texts.inUtc(
    new Intl.DateTimeFormat(texts.locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(atMs),
  )

const deviceText = ({ browser, system }: KnownDevice): string =>
  browser && system ? texts.deviceOn(browser, system) : (browser ?? system ?? texts.deviceUnknown)

/** What is known about the event, and about the one who caused it. */
export const factsOf = (message: Message, app: string): Fact[] => {
  const address = isAboutOwnAccount(message) ? canonicalAddress(message.address ?? '') : undefined
  const byOperator = 'by' in message && message.by === 'operator'
  return [
    // The text itself names both addresses of a change.
    ...('newEmail' in message ? [] : [[texts.email, message.email] as const]),
    [texts.time, momentText(message.occurredAtMs)],
    ...(byOperator ? [[texts.by, texts.operators(app)] as const] : []),
    ...(message.device ? [[texts.device, deviceText(message.device)] as const] : []),
    ...(address === undefined ? [] : [[texts.networkAddress, address] as const]),
  ]
}
