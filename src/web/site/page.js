// The script of all pages. Each of them works without it.

// Reveals the buttons that show a password. They are hidden without scripts, since they would not work.
for (const button of document.querySelectorAll('button[data-shows]')) {
  const input = document.getElementById(button.dataset.shows)
  const show = (visible) => {
    input.type = visible ? 'text' : 'password'
    button.textContent = visible ? button.dataset.hide : button.dataset.show
    button.setAttribute('aria-label', visible ? button.dataset.hideLabel : button.dataset.showLabel)
  }
  button.addEventListener('click', () => show(input.type === 'password'))
  // If it were sent as text, the browser could store the password among the suggestions of the field.
  input.form.addEventListener('submit', () => show(false))
  button.hidden = false
}

// Reveals the buttons that copy a list, where the browser allows it.
for (const button of document.querySelectorAll('button[data-copies]')) {
  const list = document.getElementById(button.dataset.copies)
  const say = () => (button.textContent = button.dataset.copied)
  // Otherwise the user copies what is marked.
  const mark = () => getSelection().selectAllChildren(list)
  button.addEventListener('click', () => navigator.clipboard.writeText(list.innerText).then(say, mark))
  button.hidden = !navigator.clipboard
}

// Writes times in the zone of the browser, which the service does not know: it sends them in UTC. They have the language of the
// page, as the browser writes it for its country.
const times = document.querySelectorAll('time[data-time]')
if (times.length > 0) {
  const { lang } = document.documentElement
  const [language] = lang.split('-')
  // Chrome on Linux can name "en-US@posix", which is no language tag.
  const own = navigator.languages.find((one) => one.split('-')[0] === language && /^[\w-]+$/.test(one)) ?? lang
  const locale = new Intl.Locale(own, { numberingSystem: 'latn' })
  const date = { day: 'numeric', month: 'short', year: 'numeric' }
  const day = new Intl.DateTimeFormat(locale, date)
  const moment = new Intl.DateTimeFormat(locale, { ...date, hour: '2-digit', minute: '2-digit' })
  for (const time of times) {
    const at = new Date(time.dateTime)
    if (time.title) time.title = moment.format(at)
    // "3 minutes ago" holds in every zone.
    if (time.dataset.time === 'ago') continue
    time.textContent = (time.dataset.time === 'day' ? day : moment).format(at)
    time.lang = own
  }
}

// Lets a button wait after its page was shown or came back into view: a page that a stranger puts away at the right
// moment must not leave the pointer above it.
// It keeps the focus, and says so to those who press it too early.
for (const button of document.querySelectorAll('button[data-waits]')) {
  const told = document.getElementById(button.dataset.tells)
  let timer
  const work = () => {
    button.removeAttribute('aria-disabled')
    if (told.textContent) told.textContent = told.dataset.ready
  }
  const wait = () => {
    clearTimeout(timer)
    button.setAttribute('aria-disabled', 'true')
    if (!document.hidden) timer = setTimeout(work, Number(button.dataset.waits))
  }
  button.addEventListener('click', (event) => {
    if (!button.hasAttribute('aria-disabled')) return
    event.preventDefault()
    told.textContent = told.dataset.wait
  })
  wait()
  document.addEventListener('visibilitychange', wait)
  for (const event of ['focus', 'blur', 'pageshow']) addEventListener(event, wait)
}

// Shows that a pressed button is busy. It can be pressed again: the browser then drops what it sent first.
const rest = () => {
  for (const button of document.querySelectorAll('.busy')) button.classList.remove('busy')
}
document.addEventListener('submit', ({ defaultPrevented, submitter }) => {
  rest()
  // A download leaves the page as it is.
  if (!defaultPrevented && submitter?.name !== 'download') submitter?.classList.add('busy')
})
// The page is there again, as it was left.
addEventListener('pageshow', rest)
