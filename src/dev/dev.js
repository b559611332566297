// The script of the pages of svc dev. Forms are refused there, so that no website can send one: buttons send JSON.

const failed = (button, words) => {
  button.disabled = false
  button.textContent = words
}

for (const button of document.querySelectorAll('button[data-send]')) {
  button.addEventListener('click', async () => {
    button.disabled = true
    const { send, body, next } = button.dataset
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const answer = await fetch(send, sent).catch(() => undefined)
    if (!answer?.ok) return failed(button, answer ? `Failed: ${answer.status}` : 'svc dev does not answer')
    if (next) location.assign(next)
    else location.reload()
  })
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', () =>
    navigator.clipboard.writeText(button.dataset.copy).then(() => failed(button, 'Copied')),
  )
}

// The provider takes any email, which the address of its page names.
for (const button of document.querySelectorAll('button[data-go]')) {
  const input = document.querySelector('#email')
  button.closest('.another').hidden = false
  button.addEventListener('click', () => {
    if (input.reportValidity()) location.assign(`${button.dataset.go}&email=${encodeURIComponent(input.value)}`)
  })
}

// A list is shown again when something else was the last to arrive.
const { follows, last } = document.querySelector('main').dataset
const showAgain = ({ data }) => data === last || location.reload()
if (follows) new EventSource('/auth/dev/events').addEventListener(follows, showAgain)
