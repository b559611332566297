"""Verifies access tokens of svc, one a line of the standard input."""

import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import jwt

ISSUER = os.environ["SVC_BASE_URL"]
SVC_URL = os.environ.get("SVC_URL", ISSUER)
keys = jwt.PyJWKClient(f"{SVC_URL}/auth/.well-known/jwks.json", lifespan=60, timeout=5)


def verify_access_token(token, issuer=ISSUER, audience="app", more=()):
    """The claims of a good token. Raises jwt.PyJWKClientConnectionError when the keys cannot be
    fetched, which is a 503, and jwt.PyJWTError for any other token, which is a 401."""
    header = jwt.get_unverified_header(token)
    # Among the keys of the last minute: a token with an unknown one makes no request to svc.
    named = [key for key in keys.get_signing_keys() if key.key_id == header.get("kid")]
    if header.get("typ") != "at+jwt" or not named:
        raise jwt.InvalidTokenError("This is no access token.")
    return jwt.decode(
        token,
        named[0],
        algorithms=["ES256"],
        issuer=issuer,
        audience=audience,
        options={"require": ["iss", "aud", "exp", "iat", "sub", "sid", *more]},
    )


def verify_client_token(token, resource):
    """The same for a token of a client, which is for a resource such as https://example.com/mcp."""
    return verify_access_token(token, f"{ISSUER}/auth", resource, ["client_id"])


def ask(path, headers, timeout=5):
    request = urllib.request.Request(SVC_URL + path, headers=headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


class Revocations:
    """What has ended, read in the background: one for a process."""

    def __init__(self, api_key):
        self.headers = {"Authorization": f"Bearer {api_key}"}
        self.ended, self.doubts, self.read_at = {}, {}, float("-inf")
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        cursor = {}
        while True:
            try:
                page = ask("/auth/api/v2/revocations?" + urllib.parse.urlencode(cursor), self.headers, 9)
                if page["complete"]:
                    self.take(page["events"])
                    cursor = {"cursor": page["next_cursor"], "wait": 4}
                    self.read_at = self.read_at if page["more"] else time.monotonic()
                else:  # It does not go on there, and begins again.
                    cursor, self.read_at = {}, float("-inf")
            except Exception as error:
                print("the revocation feed cannot be read:", error, file=sys.stderr)
                time.sleep(random.uniform(0.5, 2))

    def take(self, events):
        for event in events:
            self.ended |= dict.fromkeys(event.get("session_ids", []), event["expires_at"])
            user = event["user_id"]  # None: all users
            self.doubts[user] = max(event.get("not_before", 0), self.doubts.get(user, 0))
            while self.ended and next(iter(self.ended.values())) < event["at"]:
                del self.ended[next(iter(self.ended))]

    def check(self, token, claims):
        """The claims, if the session lives. Raises jwt.InvalidTokenError if it has ended, which is a
        401, and OSError when svc has to be asked and cannot be, which is a 503."""
        if claims["sid"] in self.ended:
            raise jwt.InvalidTokenError("The session has ended.")
        doubt = max(self.doubts.get(claims["sub"], 0), self.doubts.get(None, 0))
        if time.monotonic() - self.read_at < 5 and claims["iat"] > doubt:
            return claims
        try:
            user = ask("/auth/api/v1/user", {"Cookie": f"svc_access={token}; __Host-svc_access={token}"})
        except urllib.error.HTTPError as error:
            if error.code == 401:
                raise jwt.InvalidTokenError("The session has ended.") from error
            raise
        return claims | {"roles": user["roles"]}


def verify(token):
    resource = os.environ.get("RESOURCE")
    if resource:
        return verify_client_token(token, resource)
    claims = verify_access_token(token)
    return revocations.check(token, claims) if revocations else claims


api_key = os.environ.get("SVC_API_KEY")
revocations = Revocations(api_key) if api_key else None

for line in sys.stdin:
    try:
        claims = verify(line.strip())
        print("good", claims["sub"], *claims.get("roles", []), flush=True)
    except (jwt.PyJWKClientConnectionError, OSError) as error:
        print("unavailable", error, flush=True)
    except jwt.PyJWTError as error:
        print("refused", error, flush=True)
