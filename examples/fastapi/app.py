"""Notes: a page for all, a protected page with a form, and webhooks. svc signs the users in."""

import os
from html import escape
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Annotated
from urllib.parse import quote

import httpx
from fastapi import Depends, FastAPI, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from standardwebhooks import Webhook, WebhookVerificationError

WEBHOOK_SECRET = os.environ.get("SVC_WEBHOOK_SECRET")
# One client for the requests of all users must keep no cookie of any of them.
NO_COOKIES = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
svc = httpx.AsyncClient(base_url=os.environ.get("SVC_URL", "http://127.0.0.1:8080"), cookies=NO_COOKIES, timeout=5)
app = FastAPI()
notes: list[tuple[str, str]] = []  # an application has a database here


async def find_user(request: Request) -> dict | None:
    """The signed-in user, or None. An outage of svc is a 503: nobody is logged out by it."""
    try:
        # As bytes, since another host of the site may set a cookie that is not ASCII.
        cookies = request.headers.get("Cookie", "").encode("latin-1")
        answer = await svc.get("/auth/api/v1/user", headers={"Cookie": cookies})
    except httpx.HTTPError as error:
        raise HTTPException(503, headers={"Retry-After": "5"}) from error
    if answer.status_code == 401:
        return None
    if answer.status_code != 200:
        raise HTTPException(503, headers={"Retry-After": "5"})
    return answer.json()


async def require_user(request: Request, user: Annotated[dict | None, Depends(find_user)]) -> dict:
    """The signed-in user. Sends a page to the login page and back; refuses everything else with 401."""
    if user:
        return user
    if request.method not in ("GET", "HEAD"):
        raise HTTPException(401, "You are logged out. Log in, then send the form again.")
    target = request.scope["raw_path"] + (b"?" + request.scope["query_string"] if request.scope["query_string"] else b"")
    raise HTTPException(303, headers={"Location": f"/auth/login?return_to={quote(target, safe='')}"})


User = Annotated[dict, Depends(require_user)]


@app.middleware("http")
async def refuse_other_sites(request: Request, call_next):
    # A sibling host (evil.example.com beside example.com) could send forms with the user's cookies.
    if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        return Response(status_code=403)
    return await call_next(request)


def page(body: str) -> HTMLResponse:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><title>Notes</title><script src="/auth/session.js" defer></script>{body}'
    )


@app.get("/")
async def home(user: Annotated[dict | None, Depends(find_user)]):
    hello = f'Hello, {escape(user["username"])}. <a href="/notes">Your notes</a>' if user else ""
    login = "" if user else '<a href="/auth/login?return_to=%2Fnotes">Log in</a>'
    return page(f"<h1>Notes</h1><p>There are {len(notes)} notes.<p>{hello}{login}")


@app.get("/notes")
async def show_notes(user: User):
    items = "".join(f"<li>{escape(text)}" for owner, text in notes if owner == user["id"])
    return page(
        f'<h1>Notes of {escape(user["username"])}</h1><ul>{items}</ul>'
        '<form method="post"><input name="text" aria-label="Note" required><button>Save</button></form>'
        '<p><a href="/auth/logout">Log out</a>'
    )


@app.post("/notes")
async def add_note(user: User, text: Annotated[str, Form()]):
    notes.append((user["id"], text))
    return RedirectResponse("/notes", 303)


@app.post("/webhooks")
async def receive_event(request: Request):
    try:
        event = Webhook(WEBHOOK_SECRET).verify(await request.body(), dict(request.headers))
    except (WebhookVerificationError, ValueError):  # ValueError: a header or body that cannot be read
        return Response(status_code=401)
    if event["type"] == "user.deleted":
        notes[:] = [note for note in notes if note[0] != event["data"]["user_id"]]
    return Response(status_code=204)
