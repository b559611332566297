import type { User } from '../user.ts'

interface Question {
  answer: Promise<User | null>
  /** Undefined while svc is asked. */
  answeredAtMs: number | undefined
}

/**
 * A middleware and the handler behind it share an answer. A WebSocket, whose request lives as long as its connection, must
 * not: the user may have logged out since.
 */
const KEEP_MS = 1000

/** By the address of svc. */
const questionsTo = new Map<string, WeakMap<object, Question>>()

const findQuestions = (url: string): WeakMap<object, Question> => {
  const questions = questionsTo.get(url) ?? new WeakMap<object, Question>()
  questionsTo.set(url, questions)
  return questions
}

const isKept = ({ answeredAtMs }: Question): boolean =>
  answeredAtMs === undefined || Math.abs(Date.now() - answeredAtMs) < KEEP_MS

/** The answer about a request object: that which is under way or new, else of another question. */
export const askOnce = (url: string, source: object, ask: () => Promise<User | null>): Promise<User | null> => {
  const questions = findQuestions(url)
  const asked = questions.get(source)
  if (asked && isKept(asked)) return asked.answer
  const question: Question = { answer: ask(), answeredAtMs: undefined }
  questions.set(source, question)
  const note = (): void => void (question.answeredAtMs = Date.now())
  question.answer.then(note, note)
  return question.answer
}
