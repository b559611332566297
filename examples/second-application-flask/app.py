"""Reports: a second web application. svc logs its users in and out, and tells it of logouts elsewhere."""

import os
from datetime import timedelta

from authlib.integrations.flask_client import OAuth, OAuthError
from authlib.oidc.core import IDToken
from flask import Flask, abort, redirect, render_template_string, request, session
from joserfc.errors import InvalidClaimError, JoseError

ISSUER = os.environ.get("SVC_BASE_URL", "http://localhost:8000") + "/auth"
OWN_URL = os.environ.get("OWN_URL", "http://127.0.0.1:4000")
CLIENT_ID = os.environ["CLIENT_ID"]

app = Flask(__name__)
app.secret_key = os.urandom(32)  # an application keeps one
# svc tells of logouts, and not of sessions whose time has run out: those here have an end of their own.
app.permanent_session_lifetime = timedelta(hours=12)
app.config.update(
    SESSION_COOKIE_NAME="reports",
    SESSION_COOKIE_SAMESITE="Lax",
    SESSION_COOKIE_SECURE=OWN_URL.startswith("https:"),
    SESSION_REFRESH_EACH_REQUEST=False,
)
svc = OAuth(app).register(
    "svc",
    client_id=CLIENT_ID,
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile", "code_challenge_method": "S256", "default_timeout": 5},
)
sessions = {}  # by the claim sid; an application has a database here


@app.get("/")
def home():
    return render_template_string(HOME, user=sessions.get(session.get("sid")))


@app.get("/login")
def log_in():
    return svc.authorize_redirect(f"{OWN_URL}/callback")


@app.get("/callback")
def receive_code():
    # The answer of another server must not pass for one of svc (RFC 9207).
    if request.args.get("iss") != ISSUER:
        abort(400)
    tokens = svc.authorize_access_token()
    user = tokens["userinfo"]  # the claims of the ID token, which Authlib has verified
    session.clear()
    session.permanent = True
    session["sid"] = user["sid"]
    sessions[user["sid"]] = {"id": user["sub"], "name": user["preferred_username"], "id_token": tokens["id_token"]}
    return redirect("/", 303)


@app.post("/logout")
def log_out():
    user = sessions.pop(session.pop("sid", None), None)
    if not user:
        return redirect("/", 303)
    # svc ends its own session too, and sends the browser back.
    return redirect(svc.create_logout_url(f"{OWN_URL}/", user["id_token"])["url"], 303)


class LogoutToken(IDToken):
    """What is verified as an ID token, and differs from one (OpenID Connect Back-Channel Logout 1.0 section 2.4)."""

    ESSENTIAL_CLAIMS = [*IDToken.ESSENTIAL_CLAIMS, "sid", "events"]

    def validate(self, now=None, leeway=0):
        super().validate(now, leeway)
        if self.header.get("typ") != "logout+jwt" or EVENT not in self["events"] or "nonce" in self:
            raise InvalidClaimError("events")


EVENT = "http://schemas.openid.net/event/backchannel-logout"
EXPECTED = {"iss": {"essential": True, "value": ISSUER}, "aud": {"essential": True, "value": CLIENT_ID}}


@app.post("/backchannel-logout")
def receive_logout():
    try:
        token = {"id_token": request.form["logout_token"]}
        ended = svc.parse_id_token(token, nonce=None, claims_options=EXPECTED, claims_cls=LogoutToken)
    except (JoseError, ValueError):
        abort(400)
    sessions.pop(ended["sid"], None)
    return "", 200


@app.errorhandler(OAuthError)
def refused(error):
    return render_template_string("<p>{{ why }} <a href='/login'>Log in</a>", why=error.description or error.error), 400


HOME = """<!doctype html><html lang="en"><title>Reports</title><h1>Reports</h1>
{% if user %}<p>Hello, {{ user.name }}.<form method="post" action="/logout"><button>Log out</button></form>
{% else %}<p><a href="/login">Log in</a>{% endif %}"""
