"""Verifies access tokens of svc, one a line of the standard input."""

import os
import sys

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
        options={"require": ["iss", "aud", "exp", "sub", "sid", *more]},
    )


def verify_client_token(token, resource):
    """The same for a token of a client, which is for a resource such as https://example.com/mcp."""
    return verify_access_token(token, f"{ISSUER}/auth", resource, ["client_id"])


def verify(token):
    resource = os.environ.get("RESOURCE")
    return verify_client_token(token, resource) if resource else verify_access_token(token)


for line in sys.stdin:
    try:
        print("good", verify(line.strip())["sub"], flush=True)
    except jwt.PyJWKClientConnectionError as error:
        print("unavailable", error, flush=True)
    except jwt.PyJWTError as error:
        print("refused", error, flush=True)
