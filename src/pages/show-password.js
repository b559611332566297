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
