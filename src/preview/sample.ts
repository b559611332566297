/** These texts of people and of operators stand in the views of pages. */
export interface Sample {
  /** It stands wherever no other fits. */
  text: string
  email: string
  otherEmail: string
  username: string
  person: string
  provider: string
  iconUrl: string | undefined
  address: string
  userAgent: string
  application: string
  host: string
}

/** Has one text wherever there is a text of people or operators. */
export const oneTextOnly = (text: string): Sample => ({
  text,
  email: text,
  otherEmail: text,
  username: text,
  person: text,
  provider: text,
  iconUrl: text,
  address: text,
  userAgent: text,
  application: text,
  host: text,
})

/** Reads as the pages of real people do. */
export const usualTexts = (iconUrl: string | undefined): Sample => ({
  text: 'Example',
  email: 'ada@example.com',
  otherEmail: 'ada.lovelace@old.example.com',
  username: 'ada',
  person: 'Ada Lovelace',
  provider: 'Google',
  iconUrl,
  address: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  application: 'Notebook',
  host: 'app.example.com',
})
