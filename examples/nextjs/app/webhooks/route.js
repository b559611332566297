import { verifyWebhook, WebhookVerificationError } from '@svc/sdk/webhooks'
import { deleteNotesOf } from '../../notes'

export async function POST(request) {
  try {
    const event = await verifyWebhook(await request.arrayBuffer(), request.headers, process.env.SVC_WEBHOOK_SECRET)
    if (event.type === 'user.deleted') deleteNotesOf(event.data.user_id)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(null, { status: 401 })
    throw error
  }
}
