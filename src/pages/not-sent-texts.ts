/** The texts of the page in place of a form of the application that was sent too late. */
export const notSentTexts = {
  title: 'Not sent yet',
  about: 'You were logged out before this was sent.',
  /** After a link with the text of `texts.logIn`. */
  advice: '(opens in a new tab), then reload this page to send it again.',
}
