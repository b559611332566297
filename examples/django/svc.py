import json
from functools import wraps
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect


def load_user(view):
    """Sets `request.user`: the signed-in user, or None. An outage of svc is a 503: nobody is logged out by it."""

    @wraps(view)
    def loaded(request, *args, **kwargs):
        cookies = {"Cookie": request.headers.get("Cookie", "")}
        try:
            with urlopen(Request(f"{settings.SVC_URL}/auth/api/v1/user", headers=cookies), timeout=5) as answer:
                request.user = json.load(answer)
        except OSError as error:
            if not isinstance(error, HTTPError) or error.code != 401:
                return HttpResponse("Try again soon.", status=503, headers={"Retry-After": "5"})
            request.user = None
        return view(request, *args, **kwargs)

    return loaded


def login_required(view):
    """As load_user. Sends a page to the login page and back; refuses everything else with 401."""

    @load_user
    @wraps(view)
    def guarded(request, *args, **kwargs):
        if request.user:
            return view(request, *args, **kwargs)
        if request.method not in ("GET", "HEAD"):
            return HttpResponse("You are logged out. Log in, then send the form again.", status=401)
        return redirect(f"/auth/login?return_to={quote(request.get_full_path(), safe='')}")

    return guarded
