import type { MessageOf, Notice } from '../message.ts'

/** What the texts need to know about the service. */
export interface ServiceFacts {
  /** The name of the application. */
  app: string
  /** Whether accounts can have passwords. */
  passwords: boolean
}

/** What a notice says; its ending depends on what the user can do about it. */
export interface NoticeWords {
  subject: string
  heading: string
  /** Paragraphs: who did what. */
  what: readonly string[]
}

/** The words of each kind of notice. */
export type NoticeTexts<Kinds extends Notice['kind'] = Notice['kind']> = {
  [Kind in Kinds]: (message: MessageOf<Kind>, service: ServiceFacts) => NoticeWords
}

/** The subject names the application, and the heading does not. */
export const titles = (app: string, title: (of: string) => string) => ({
  subject: title(`${app} `),
  heading: title(''),
})
