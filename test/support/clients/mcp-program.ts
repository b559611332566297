import assert from 'node:assert/strict'
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client'

type Kept = {
  client?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  verifier?: string
  address?: URL
  discovered?: OAuthDiscoveryState
}

/** A program that keeps what the SDK hands it. */
export const createProgram = (
  redirectUrl: string,
  { client, documentUrl }: { client?: { client_id: string; issuer: string }; documentUrl?: string },
) => {
  const kept: Kept = { client }
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...(documentUrl === undefined ? {} : { clientMetadataUrl: documentUrl }),
    clientMetadata: { client_name: 'Agent', redirect_uris: [redirectUrl] },
    clientInformation: () => kept.client,
    saveClientInformation: (information) => {
      kept.client = information
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (address) => {
      kept.address = address
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    saveDiscoveryState: (state) => {
      kept.discovered = state
    },
    discoveryState: () => kept.discovered,
    invalidateCredentials: (what) => {
      if (what === 'tokens' || what === 'all') delete kept.tokens
    },
    codeVerifier: () => kept.verifier ?? assert.fail('no verifier'),
  }
  return { kept, provider }
}
