/** What the work comes to, or `otherwise` once so much time has passed. */
export const within = async <T>(deadlineMs: number, work: Promise<T>, otherwise: T): Promise<T> => {
  const { promise: tooLate, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(resolve, deadlineMs, otherwise)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
