const escape = (text) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (body) =>
  `<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>${body}`

export const homePage = (user, count) => {
  const link = user
    ? `Hello, ${escape(user.username)}. <a href="/notes">Your notes</a>`
    : '<a href="/auth/login?return_to=%2Fnotes">Log in</a>'
  return page(`<h1>Notes</h1><p>There are ${count} notes.<p>${link}`)
}

// What is saved in another tab comes at once. When the session has ended, the page leads to the login page.
const LIVE = `<script>
  const live = new WebSocket(location.origin.replace('http', 'ws') + '/live')
  live.onmessage = ({ data }) => document.querySelector('ul').appendChild(document.createElement('li')).append(data)
  live.onclose = ({ code }) => code === 4401 && location.reload()
</script>`

export const notesPage = (user, notes) => {
  const items = notes.filter(({ owner }) => owner === user.id).map(({ text }) => `<li>${escape(text)}`)
  return page(`<h1>Notes of ${escape(user.username)}</h1><ul>${items.join('')}</ul>
<form method="post"><input name="text" aria-label="Note" required><button>Save</button></form>
<p><a href="/auth/logout">Log out</a>${LIVE}`)
}
