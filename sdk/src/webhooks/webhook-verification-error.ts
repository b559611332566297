/** A request that svc has not sent, or not as it arrived, or not now. Answer it 401, and do nothing else. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}
