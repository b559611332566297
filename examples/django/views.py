# Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in.
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from standardwebhooks import Webhook, WebhookVerificationError

from svc import load_user, login_required

notes = []  # an application has models here


@load_user
def home(request):
    return render(request, "home.html", {"user": request.user, "count": len(notes)})


@login_required
def own_notes(request):
    if request.method == "POST":
        notes.append((request.user["id"], request.POST.get("text", "")))
        return redirect("/notes")
    own = [text for owner, text in notes if owner == request.user["id"]]
    return render(request, "notes.html", {"user": request.user, "notes": own})


@csrf_exempt
def receive_event(request):
    try:
        event = Webhook(settings.SVC_WEBHOOK_SECRET).verify(request.body, request.headers)
    except (WebhookVerificationError, ValueError):  # ValueError: a header or body that cannot be read
        return HttpResponse(status=401)
    if event["type"] == "user.deleted":
        notes[:] = [note for note in notes if note[0] != event["data"]["user_id"]]
    return HttpResponse(status=204)


urlpatterns = [path("", home), path("notes", own_notes), path("webhooks", receive_event)]
