interface Sent {
  status: number
  headers: Record<string, string>
  body: string
}

/** An answer in place of the application's, as a `Response` of Fetch. */
export const toResponse = ({ status, headers, body }: Sent): Response =>
  new Response(body === '' ? null : body, { status, headers })
