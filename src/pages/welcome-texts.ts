/** The texts of the page that stands in for the application, for the person who is setting svc up. */
export const welcomeTexts = {
  title: 'It works',
  titleSignedOut: 'Nothing here yet',
  about: 'Your application belongs at this address. Until it answers here, svc shows this page to you.',
  aboutSignedOut: 'Your application belongs at this address, and it does not answer here yet. svc does, under /auth.',
  next: 'What to do next',
  look: 'See what your users see:',
  proxyBefore: 'Put a proxy in front of both: everything under',
  proxyAfter: 'goes to svc as it came, everything else to your application. In nginx:',
  baseUrlBefore: 'Set',
  baseUrlAfter: 'to the address at which people will open your application, such as',
  baseUrlExample: 'https://example.com',
  user: 'Let your application ask svc who is signed in:',
  read: 'The details are in these documents, which came with svc:',
}
