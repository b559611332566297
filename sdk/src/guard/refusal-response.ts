import type { Refusal } from './refusal.ts'

/** A refusal as a `Response` of Fetch. */
export const toResponse = ({ status, headers, body }: Refusal): Response => new Response(body, { status, headers })
