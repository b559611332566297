/** The texts of the pages in place of a form that was sent too late. */
export const notSentTexts = {
  title: 'Not sent yet',
  about: 'You were logged out before this was sent.',
  /** After a link with the text of `texts.logIn`. */
  advice: '(opens in a new tab), then reload this page to send it again.',
  loggedOutTitle: 'You were logged out',
  loggedOutAbout: 'This page is from before that, so nothing was changed. Log in to come back.',
}
