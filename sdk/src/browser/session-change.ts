import { isSignedIn, sessionMark } from './cookies.ts'
import { ofDocument, ofWindow, requirePage } from './own-document.ts'

/** What a listener is told. */
export interface SessionChange {
  signedIn: boolean
}

export type SessionListener = (change: SessionChange) => void

const LOOK_EVERY_MS = 2000

const listeners = new Set<SessionListener>()
let known = ''
let stopWatching = (): void => {}

/** Tells the listeners if a login or logout has happened, in this tab or in another one. */
export const tellListeners = (): void => {
  const mark = sessionMark()
  if (mark === known || listeners.size === 0) return
  known = mark
  const signedIn = isSignedIn()
  for (const listener of listeners) {
    try {
      listener({ signedIn })
    } catch (error) {
      // One listener must not keep the news from the others.
      reportError(error)
    }
  }
}

const watch = (): (() => void) => {
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const events: [target: EventTarget, name: string][] = [
    [document, 'visibilitychange'],
    [document, 'svc:signed-out'],
    [window, 'pageshow'],
  ]
  // Not all browsers have it; its types are not in all versions of TypeScript.
  const cookieStore = ofWindow('cookieStore')
  if (cookieStore instanceof EventTarget) events.push([cookieStore, 'change'])
  for (const [target, name] of events) addEventListener.call(target, name, tellListeners)
  const timer = setInterval(() => {
    if (!ofDocument('hidden')) tellListeners()
  }, LOOK_EVERY_MS)
  return () => {
    for (const [target, name] of events) removeEventListener.call(target, name, tellListeners)
    clearInterval(timer)
  }
}

/**
 * Calls a function when a user logs in or out, or another user logs in, in this tab or in another one. Returns a
 * function that ends it.
 */
export const onSessionChange = (listener: SessionListener): (() => void) => {
  requirePage()
  if (listeners.size === 0) {
    known = sessionMark()
    stopWatching = watch()
  }
  // The same function may be given twice.
  const own: SessionListener = (change) => listener(change)
  listeners.add(own)
  return () => {
    if (listeners.delete(own) && listeners.size === 0) stopWatching()
  }
}
