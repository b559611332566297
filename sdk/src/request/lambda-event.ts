type Values = Readonly<Record<string, string | undefined>> | null
type ManyValues = Readonly<Record<string, readonly string[] | undefined>> | null

/**
 * What AWS Lambda gets of a request: from a function URL or an HTTP API (version 2.0 of the format), a REST API (1.0) or a
 * load balancer.
 */
export interface LambdaEvent {
  readonly requestContext: { readonly http?: { readonly method: string }; readonly elb?: object }
  readonly headers?: Values
  readonly multiValueHeaders?: ManyValues
  /** In version 2.0, where they are no header. */
  readonly cookies?: readonly string[]
  readonly rawPath?: string
  readonly rawQueryString?: string
  readonly path?: string
  readonly httpMethod?: string
  readonly queryStringParameters?: Values
  readonly multiValueQueryStringParameters?: ManyValues
}

export const isLambdaEvent = (source: object): source is LambdaEvent =>
  'requestContext' in source && typeof source.requestContext === 'object' && source.requestContext !== null

const queryOf = (event: LambdaEvent): string => {
  if (event.rawQueryString !== undefined) return event.rawQueryString
  const values = Object.entries(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {})
  const pairs = values.flatMap(([name, some]) => [some ?? []].flat().map((value): [string, string] => [name, value]))
  // A load balancer leaves them as they were sent.
  return event.requestContext.elb
    ? pairs.map((pair) => pair.join('=')).join('&')
    : new URLSearchParams(pairs).toString()
}

/** The same as a request of Node. */
export const requestOfEvent = (event: LambdaEvent) => {
  const { headers, multiValueHeaders, cookies, rawPath, path, httpMethod, requestContext } = event
  const query = queryOf(event)
  return {
    headers: { ...(multiValueHeaders ?? headers), ...(cookies && { cookie: cookies }) },
    method: requestContext.http?.method ?? httpMethod,
    url: `${rawPath ?? path ?? '/'}${query && `?${query}`}`,
  }
}
