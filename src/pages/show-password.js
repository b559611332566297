// Reveals the buttons that show a password: they are hidden where there is no script to work them.
for (const button of document.querySelectorAll('button[data-shows]')) {
  const input = document.getElementById(button.dataset.shows)
  const show = (visible) => {
    input.type = visible ? 'text' : 'password'
    button.textContent = visible ? button.dataset.hide : button.dataset.show
    button.setAttribute('aria-label', visible ? button.dataset.hideLabel : button.dataset.showLabel)
  }
  button.addEventListener('click', () => show(input.type === 'password'))
  // Sent as text, a password could end up in the list of what was typed before.
  input.form.addEventListener('submit', () => show(false))
  button.hidden = false
}
