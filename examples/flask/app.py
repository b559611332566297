"""Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in."""

import json
import os
import urllib.error
import urllib.request
from functools import wraps
from urllib.parse import quote

from flask import Flask, abort, g, redirect, render_template_string, request
from standardwebhooks import Webhook, WebhookVerificationError

SVC_URL = os.environ.get("SVC_URL", "http://127.0.0.1:8080")
WEBHOOK_SECRET = os.environ.get("SVC_WEBHOOK_SECRET")
app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 64 * 1024
notes = []  # an application has a database here


def find_user():
    """The signed-in user, or None. An outage of svc is a 503: nobody is logged out by it."""
    question = urllib.request.Request(f"{SVC_URL}/auth/api/v1/user", headers={"Cookie": request.headers.get("Cookie", "")})
    try:
        with urllib.request.urlopen(question, timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 401:
            return None
        abort(503)
    except OSError:
        abort(503)


def login_required(view):
    """Sends a page to the login page and back; refuses everything else with 401."""

    @wraps(view)
    def guarded(*args, **kwargs):
        g.user = find_user()
        if g.user:
            return view(*args, **kwargs)
        if request.method not in ("GET", "HEAD"):
            return render_template_string(LOGGED_OUT), 401
        target = f"{quote(request.path)}?{request.query_string.decode('latin-1')}".removesuffix("?")
        return redirect(f"/auth/login?return_to={quote(target, safe='')}", 303)

    return guarded


@app.before_request
def refuse_other_sites():
    # A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
    if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403)


@app.errorhandler(503)
def unavailable(_):
    return "The service is unavailable. Try again soon.", 503, {"Retry-After": "5"}


@app.get("/")
def home():
    return render_template_string(HOME, user=find_user(), count=len(notes))


@app.get("/notes")
@login_required
def show_notes():
    own = [text for owner, text in notes if owner == g.user["id"]]
    return render_template_string(NOTES, user=g.user, notes=own)


@app.post("/notes")
@login_required
def add_note():
    notes.append((g.user["id"], request.form["text"]))
    return redirect("/notes", 303)


@app.post("/webhooks")
def receive_event():
    try:
        event = Webhook(WEBHOOK_SECRET).verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError):  # ValueError: a header or body that cannot be read
        abort(401)
    if event["type"] == "user.deleted":
        notes[:] = [note for note in notes if note[0] != event["data"]["user_id"]]
    return "", 204


HEAD = '<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>'
LOGGED_OUT = HEAD + '<p>You are logged out. <a href="/auth/login" target="_blank">Log in</a>, then send the form again.'
HOME = HEAD + """<h1>Notes</h1><p>There are {{ count }} notes.
{% if user %}<p>Hello, {{ user.username }}. <a href="/notes">Your notes</a>
{% else %}<p><a href="/auth/login?return_to=%2Fnotes">Log in</a>{% endif %}"""
NOTES = HEAD + """<h1>Notes of {{ user.username }}</h1><ul>{% for note in notes %}<li>{{ note }}{% endfor %}</ul>
<form method="post"><input name="text" aria-label="Note" required><button>Save</button></form>
<p><a href="/auth/logout">Log out</a>"""
