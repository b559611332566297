// The script of pages on which passkeys can be used, given the texts that it may need. Around each button for passkeys
// is an element with `data-passkey`, which says what the button does: `log-in`, `confirm`, `fill` or `add`.

const places = [...document.querySelectorAll('[data-passkey]')]

const PATIENCE_MS = 20_000
const LOOK_EVERY_MS = 30_000

/** An error with a text for users. */
class Problem extends Error {}

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))

const encode = (bytes) =>
  btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

// Not with parseRequestOptionsFromJSON and toJSON: older browsers lack them, and the objects of password managers do.
const withBytes = (options) => {
  const named = (list) => list?.map((one) => ({ ...one, id: decode(one.id) }))
  return {
    ...options,
    challenge: decode(options.challenge),
    user: options.user && { ...options.user, id: decode(options.user.id) },
    allowCredentials: named(options.allowCredentials),
    excludeCredentials: named(options.excludeCredentials),
  }
}

const toJson = (credential) => {
  const { id, rawId, type, response } = credential
  const json = { clientDataJSON: encode(response.clientDataJSON) }
  for (const name of ['attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (response[name]) json[name] = encode(response[name])
  }
  if (response.attestationObject) json.transports = response.getTransports?.() ?? []
  return {
    id,
    rawId: encode(rawId),
    type,
    response: json,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
  }
}

// The browser leaves the page; what waits for this goes on no more.
const go = (url) => {
  const [address, fragment] = url.split('#')
  location.assign(url)
  // With a fragment, the same address is not loaded again. Without one it is: twice, a page would say only to the first
  // request what was done.
  if (fragment !== undefined && address === location.pathname + location.search) location.reload()
  return new Promise(() => {})
}

const forget = async (credentialId, rpId) => {
  try {
    await PublicKeyCredential.signalUnknownCredential?.({ rpId, credentialId })
  } catch {
    // The browser could have tidied up, and need not.
  }
}

const wordsOfRefusal = ({ status, headers }, isRecoveryCode) => {
  if (status === 410) return texts.linkEnded
  if (status === 429) return texts.tooMany
  if (status >= 500) return texts.unavailable
  const reason = headers.get('x-svc-reason')
  return texts.refused[isRecoveryCode && reason === 'code_wrong' ? 'recovery_code_wrong' : reason] ?? texts.outdated
}

const baseOf = (place) => place.dataset.base ?? '/auth/passkeys'

const fieldsAround = (place) => place.closest('form')?.elements

/** The answer to a `POST`. Where it names a place to go on, the browser goes there. */
const post = async (place, url, body, used) => {
  const { dataset } = place
  let answer
  let content
  try {
    answer = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-csrf-token': dataset.csrf },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    content = await answer.json()
  } catch {
    if (!answer || answer.ok) throw new Problem(texts.network)
  }
  if (answer.ok || answer.headers.has('location')) {
    const where = answer.headers.get('location')
    return where ? go(where) : content
  }
  if (used && answer.headers.get('x-svc-passkey') === 'unknown') {
    await forget(used.id, used.rpId)
    throw new Problem(texts.unknown)
  }
  throw new Problem(wordsOfRefusal(answer, Boolean(fieldsAround(place)?.recovery_code?.value)))
}

const codeOf = (fields) => fields?.recovery_code?.value || fields?.code?.value

// What the service is told beside the members of the standard: the link by which the user has come, and the code that its
// page asks for.
const linkOf = (place) => {
  if (!place.dataset.link) return {}
  return { ...JSON.parse(place.dataset.link), code: codeOf(fieldsAround(place)) }
}

// What the service was asked last: options to sign in with. The challenge in them is good for as long as their timeout.
let asked
/** Whether this part of their time is not over yet. */
const isFresh = (part) => asked !== undefined && Date.now() - asked.at < part * asked.options.timeout

/** Options to sign in with, and the time that is left for it. */
const requestOptions = async (place, freshPart) => {
  if (!isFresh(freshPart)) {
    const at = Date.now()
    asked = { at, options: await post(place, `${baseOf(place)}/login/options`, {}) }
  }
  return { ...asked.options, timeout: asked.options.timeout - (Date.now() - asked.at) }
}

let current
let settled = Promise.resolve()
const stop = () => current?.abort()
/** Asks the browser for a credential, after it has dropped what it was asked before. */
const ask = async (method, request) => {
  stop()
  const mine = new AbortController()
  current = mine
  // Some password managers never answer what was dropped.
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 500))])
  mine.signal.throwIfAborted()
  const startedAt = performance.now()
  const answer = navigator.credentials[method]({ ...request, signal: mine.signal })
  settled = answer.catch(() => {})
  try {
    return await answer
  } catch (error) {
    const isLate = performance.now() - startedAt >= (request.publicKey.timeout ?? Infinity)
    throw error.name === 'NotAllowedError' && isLate ? new Problem(texts.timedOut) : error
  }
}

const wordsOf = (error, isNew) => {
  if (error instanceof Problem) return error.message
  switch (error.name) {
    case 'AbortError':
      return undefined
    case 'InvalidStateError':
      return isNew ? texts.alreadyAdded : texts.failed
    // Cancelled, or there is none: browsers do not tell, so that pages learn nothing about the passkeys on a device.
    case 'NotAllowedError':
      return isNew ? texts.notAdded : texts.notUsed
    case 'NotSupportedError':
    case 'ConstraintError':
      return texts.noAuthenticator
    case 'SecurityError':
      return texts.otherAddress
    default:
      return texts.failed
  }
}

const say = (place, text, isProblem = false) => {
  place.querySelector('.problem')?.remove()
  const status = place.querySelector('[role="status"]')
  status.textContent = isProblem ? '' : text
  if (!isProblem || !text) return
  const problem = document.createElement('p')
  problem.className = 'problem'
  problem.setAttribute('role', 'alert')
  problem.textContent = text
  status.after(problem)
}

// The dialog of the browser needs some of the time.
const AUTOFILL_PART = 0.8
const BUTTON_PART = 0.5

/** A signature for the challenge, as JSON. A challenge is good once. */
const sign = async (place, mediation) => {
  const options = await requestOptions(place, mediation ? AUTOFILL_PART : BUTTON_PART)
  // The button was pressed in the meantime.
  if (mediation && busy) throw new Problem()
  const publicKey = withBytes(options)
  const json = toJson(await ask('get', mediation ? { publicKey, mediation } : { publicKey }))
  asked = undefined
  return { json, rpId: options.rpId }
}

const send = async (place, { json, rpId }) => {
  const { redirect_to: where } = await post(place, place.dataset.url, json, { id: json.id, rpId })
  return go(where)
}

const logIn = async (place) => send(place, await sign(place))

const fill = async (place) => {
  const { form } = place.querySelector('button')
  form.elements.passkey_response.value = JSON.stringify((await sign(place)).json)
  form.requestSubmit()
}

const add = async (place) => {
  const link = linkOf(place)
  const options = await post(place, `${baseOf(place)}/register/options`, link)
  const json = toJson(await ask('create', { publicKey: withBytes(options) }))
  await post(place, `${baseOf(place)}/register`, { ...json, ...link }, { id: json.id, rpId: options.rp.id })
}

const ACTIONS = { 'log-in': logIn, confirm: logIn, fill, add }

let busy = false
/** One at a time. Where it fails, the page says why. */
const attempt = async (place, action) => {
  if (busy) return
  busy = true
  const button = place.querySelector('button')
  // Not `disabled`, with which the button would lose the focus.
  button.setAttribute('aria-disabled', 'true')
  say(place, texts.waiting)
  try {
    await action(place)
    say(place, '')
  } catch (error) {
    say(place, wordsOf(error, action === add), true)
  }
  button.removeAttribute('aria-disabled')
  busy = false
  void autofill()
}

const autofillPlace =
  document.querySelector('[autocomplete~="webauthn"]') && places.find(({ dataset }) => dataset.passkey === 'log-in')
let canAutofill = false
let renewal
/** Offers passkeys among the suggestions of the field for the email, with a new challenge before the last one ends. */
const autofill = async () => {
  if (!canAutofill || busy || document.hidden) return
  clearInterval(renewal)
  renewal = setInterval(() => isFresh(AUTOFILL_PART) || autofill(), LOOK_EVERY_MS)
  let signed
  try {
    signed = await sign(autofillPlace, 'conditional')
  } catch {
    // The user has asked for nothing, and reads nothing about it.
    return
  }
  await attempt(autofillPlace, () => send(autofillPlace, signed))
}

const begin = async () => {
  canAutofill = (await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false
  await autofill()
}

/** The Enter key sends a form that has no other button. */
const onEnter = (form, act) =>
  form.addEventListener('submit', (event) => {
    if (form.elements.passkey_response?.value) return
    event.preventDefault()
    act()
  })

const isSupported = Boolean(globalThis.PublicKeyCredential && navigator.credentials)
for (const place of places) {
  const button = place.querySelector('button')
  if (isSupported) {
    const act = () => void attempt(place, ACTIONS[place.dataset.passkey])
    button.addEventListener('click', act)
    if (button.form && !button.form.querySelector('button:not([type="button"])')) onEnter(button.form, act)
  } else if (place.dataset.needed === undefined) continue
  else {
    button.hidden = true
    say(place, texts.unsupported)
  }
  place.hidden = false
}

if (isSupported) {
  if (autofillPlace) void begin()
  document.addEventListener('visibilitychange', () => isFresh(AUTOFILL_PART) || autofill())
  // A form is on its way, and no dialog is to come before it.
  document.addEventListener('submit', ({ defaultPrevented }) => defaultPrevented || stop())
  // Tells the browser which passkeys the account has, so that it stops to offer those that were removed.
  const kept = document.querySelector('[data-passkeys]')?.dataset.passkeys
  if (kept) PublicKeyCredential.signalAllAcceptedCredentials?.(JSON.parse(kept)).catch(() => {})
}
// Going back can show the page as it was left, with a challenge and a token that are old.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
