import type { ServerResponse } from 'node:http'
import type { AppError } from '../lib/errors.ts'

export interface ContentResponse {
  status: number
  contentType: string
  body: string
  /** This is the body, compressed. It is sent in its place. */
  gzipped?: Buffer
  retryAfterSeconds?: number | undefined
  /** If this is missing, the response is not cached. */
  cacheSeconds?: number
  /** The items are name, value, name, value. */
  headers?: readonly string[]
  /** This is a validator of the body: a client that has the body already is answered 304. */
  etag?: string
  /** It shows something that its address does not show again, so that nothing on it leads back there. */
  isShownOnce?: true
  /** The log learns from this why the request was refused, if the page says so in its own words. */
  refused?: AppError
}

/** A body that is too long to be held at once. It is not cached. */
export interface StreamedResponse extends Pick<ContentResponse, 'status' | 'contentType' | 'headers'> {
  /** A part is asked for when the client has taken the one before. An error breaks the connection off. */
  parts: AsyncIterable<string>
  /** A client that takes nothing for so long is cut off. */
  patienceMs?: number
}

/** Sends each part when the client has taken the one before. Of a thousand streams, those that are taken cost no timer. */
export const sendParts = async (outgoing: ServerResponse, { parts, patienceMs }: StreamedResponse): Promise<void> => {
  for await (const part of parts) {
    if (!outgoing.destroyed && !outgoing.write(part)) await taken(outgoing, patienceMs)
    if (outgoing.destroyed) return
  }
  outgoing.end()
}

/** Resolves when the client has taken enough, or is gone. One that takes nothing for so long is cut off. */
const taken = (outgoing: ServerResponse, patienceMs: number | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = patienceMs === undefined ? undefined : setTimeout(() => outgoing.destroy(), patienceMs)
    const goOn = (): void => {
      clearTimeout(timer)
      outgoing.off('drain', goOn).off('close', goOn)
      resolve()
    }
    outgoing.on('drain', goOn).on('close', goOn)
  })

export type HttpResponse = ContentResponse | StreamedResponse | Redirect

interface Redirect {
  redirect: string
  /** A sign-in goes on there: it is counted at its end. */
  isUnfinished?: true
}

export const HTML_TYPE = 'text/html; charset=utf-8'

export const page = (status: number, html: string, retryAfterSeconds?: number): ContentResponse => ({
  status,
  contentType: HTML_TYPE,
  body: html,
  retryAfterSeconds,
})

export const json = (status: number, body: string): ContentResponse => ({
  status,
  contentType: 'application/json',
  body,
})

/** An event stream (HTML standard, 9.2). nginx, and others after it, hold the parts of other responses back. */
export const eventStream = (parts: AsyncIterable<string>): StreamedResponse => ({
  status: 200,
  contentType: 'text/event-stream',
  headers: ['x-accel-buffering', 'no'],
  parts,
  patienceMs: STREAM_PATIENCE_MS,
})

/** A reader that takes nothing for so long is gone, or holds memory for nothing. */
const STREAM_PATIENCE_MS = 30_000

/** The request is done, and there is nothing to say about it. */
export const noContent: ContentResponse = { status: 204, contentType: '', body: '' }

/**
 * Tells whether the response ends the sign-in. It does not if a sign-in goes on after it and waits for a second factor.
 */
export const isFinished = (response: HttpResponse): boolean => !('isUnfinished' in response)

/** Answers 303 (RFC 9110 section 15.4.4): the browser requests the location by `GET`. */
export const redirect = (location: string): HttpResponse => ({ redirect: location })
