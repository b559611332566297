"""Asks svc for the signed-in user: `request.user`, and `@login_required` for views."""

import json
import urllib.error
import urllib.request
from functools import wraps
from urllib.parse import quote

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import SimpleLazyObject


class SvcUnavailable(Exception):
    pass


def find_user(request):
    """The signed-in user, or None."""
    question = urllib.request.Request(
        f"{settings.SVC_URL}/auth/api/v1/user", headers={"Cookie": request.headers.get("Cookie", "")}
    )
    try:
        with urllib.request.urlopen(question, timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 401:
            return None
        raise SvcUnavailable from error
    except OSError as error:
        raise SvcUnavailable from error


class UserMiddleware:
    """svc is asked when a view or template first looks at `request.user`, once for each request."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        request.user = SimpleLazyObject(lambda: find_user(request))
        return self.get_response(request)

    def process_exception(self, request, exception):
        # An outage is a 503: nobody is logged out by it.
        if isinstance(exception, SvcUnavailable):
            return HttpResponse("Try again soon.", status=503, headers={"Retry-After": "5"})


def login_required(view):
    """Sends a page to the login page and back; refuses everything else with 401."""

    @wraps(view)
    def guarded(request, *args, **kwargs):
        if request.user:
            return view(request, *args, **kwargs)
        if request.method not in ("GET", "HEAD"):
            return render(request, "logged-out.html", status=401)
        response = redirect(f"/auth/login?return_to={quote(request.get_full_path(), safe='')}")
        response.status_code = 303
        return response

    return guarded
