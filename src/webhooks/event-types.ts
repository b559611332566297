/** CONTRACT.md 6.1. */
export const EVENT_TYPES = ['user.created', 'user.updated', 'user.deleted'] as const
export type EventType = (typeof EVENT_TYPES)[number]
