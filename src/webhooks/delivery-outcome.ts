/** The outcome of an attempt; `interrupted` if its process died before the end. */
export const DELIVERY_OUTCOMES = ['delivered', 'retried', 'failed', 'interrupted'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]
