// The script of the application's pages (CONTRACT.md 4.14), inside a function with `settings` (`session-script.ts`).
// Two cookies say all that it needs to know: no clock of the browser, which may be wrong, and no storage.

const WAIT_FOR_LOCK_MS = 2000
const WAIT_FOR_ANSWER_MS = 5000
const HOLD_FORM_MS = 3000
const LOOK_EVERY_MS = 20_000

// The page may hold HTML of its users: an image called `cookie` hides what the document has under that name, an element
// called `svcSession` is found on the window, and `<base>` moves relative addresses to another origin.
const ofDocument = (name) => Reflect.get(Document.prototype, name, document)
const onDocument = (name, ...values) => ofDocument(name).apply(document, values)

const audience = ofDocument('currentScript')?.dataset.audience || settings.audience
const address = new URL(`/auth/api/v1/sessions/refresh?audience=${encodeURIComponent(audience)}`, location.origin)

const cookie = (name) => {
  const pairs = ofDocument('cookie').split('; ')
  const pair = pairs.find((text) => text.startsWith(`${name}=`))
  return pair?.slice(name.length + 1)
}
const isSignedIn = () => cookie(settings.session)
const isFresh = () => cookie(settings.fresh)

// Forms that wait for a renewal.
const held = new Set()
// The form that is being sent after its wait.
let released
let renewal

// False where a listener wants the page to stay.
const announceSignOut = (form) =>
  onDocument('dispatchEvent', new CustomEvent('svc:signed-out', { cancelable: true, detail: { form } }))

// `keepalive`: the answer has the only refresh token that is good for long, and must arrive even if the page goes.
const send = (signal) =>
  fetch(address, {
    method: 'POST',
    headers: { 'X-CSRF-Token': cookie(settings.csrf) ?? '' },
    keepalive: true,
    signal,
  })

const request = async () => {
  // Another tab may have been here first.
  if (isFresh()) return 'fresh'
  if (!isSignedIn()) return 'signed-out'
  try {
    const signal = AbortSignal.timeout(WAIT_FOR_ANSWER_MS)
    let answer = await send(signal)
    // A refusal of the CSRF token sets one that is good.
    if (answer.status === 403) answer = await send(signal)
    if (answer.ok) return 'fresh'
    // A login in another tab may have made a new session in the meantime.
    if (answer.status === 401) return isFresh() ? 'fresh' : 'signed-out'
  } catch {
    // No answer says nothing about the session.
  }
  return 'unknown'
}

const withLock = async (work) => {
  let result
  const workOnce = () => (result ??= work())
  try {
    await navigator.locks.request('svc-refresh', { signal: AbortSignal.timeout(WAIT_FOR_LOCK_MS) }, workOnce)
  } catch {
    // No locks here, or another tab holds it for too long: svc bears with two renewals at once.
  }
  return workOnce()
}

const renew = () => {
  renewal ??= withLock(request).then((state) => {
    renewal = undefined
    if (state === 'signed-out' && held.size === 0) announceSignOut()
    return state
  })
  return renewal
}

const renewSoon = () => Promise.race([renew(), new Promise((resolve) => setTimeout(resolve, HOLD_FORM_MS))])

// A field may be called `method` or `getAttribute`, and hides what the form has under that name.
const attribute = (element, name) => element && Element.prototype.getAttribute.call(element, name)

// Whether it is a POST to this origin, in this frame (HTML Standard, form submission algorithm).
const needsSession = (form, submitter) => {
  const chosen = (name) => attribute(submitter, `form${name}`) ?? attribute(form, name)
  if (chosen('method')?.toLowerCase() !== 'post') return false
  const base = onDocument('querySelector', 'base[target]')
  const target = (chosen('target') ?? attribute(base, 'target') ?? '').toLowerCase()
  const isHere = ['', '_self', window.name.toLowerCase(), ...(window === top ? ['_top', '_parent'] : [])]
  if (!isHere.includes(target)) return false
  try {
    return new URL(chosen('action') || ofDocument('URL'), ofDocument('baseURI')).origin === location.origin
  } catch {
    return false
  }
}

const hold = async (form, submitter) => {
  held.add(form)
  const state = await renewSoon()
  // The user has left the page while the form was waiting.
  if (!held.delete(form)) return
  if (state === 'signed-out' && !announceSignOut(form)) return
  const button = submitter?.form === form ? submitter : null
  // A button that the page has disabled at the click still counts: the click came first.
  const isDisabled = button?.disabled
  if (isDisabled) button.disabled = false
  released = form
  try {
    HTMLFormElement.prototype.requestSubmit.call(form, button)
  } finally {
    released = undefined
    if (isDisabled) button.disabled = true
  }
}

const onSubmit = (event) => {
  const { target: form, submitter } = event
  // An event made by a script sends nothing by itself.
  if (!event.isTrusted || form === released) return
  const isHeld = held.has(form)
  if (!isHeld && (!isSignedIn() || isFresh() || !needsSession(form, submitter))) return
  event.preventDefault()
  event.stopImmediatePropagation()
  if (!isHeld) void hold(form, submitter)
}

const look = () => {
  if (isSignedIn() && !isFresh()) renew()
}
const lookIfVisible = () => {
  if (!ofDocument('hidden')) look()
}

// The tag may be there twice.
if (!Object.hasOwn(window, 'svcSession')) {
  window.svcSession = Object.freeze({
    audience,
    fresh: async () => Boolean(isSignedIn() && (isFresh() || (await renewSoon()) === 'fresh')),
  })
  // Before all handlers of the application, so that they see one event: that of the form as it is sent.
  if (HTMLFormElement.prototype.requestSubmit) addEventListener('submit', onSubmit, true)
  addEventListener('pagehide', () => held.clear())
  addEventListener('pageshow', look)
  onDocument('addEventListener', 'visibilitychange', lookIfVisible)
  setInterval(lookIfVisible, LOOK_EVERY_MS)
  look()
}
