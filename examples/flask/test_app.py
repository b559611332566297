"""Tests with a real svc: svc dev --port 0 --quiet -- python -m pytest"""

import json
import os
import urllib.request

import pytest

from app import app, notes


def ask_svc(path, **body):
    """Sends a request for tests to svc dev."""
    url = f"{os.environ['SVC_URL']}/auth/dev/{path}"
    sent = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(sent, timeout=10) as answer:
        return json.loads(answer.read() or "null")


@pytest.fixture(autouse=True)
def begin():
    """Each test begins with ada, grace and nobody else."""
    ask_svc("reset")
    notes.clear()


def client_of(email):
    """A browser in which a user is signed in; the account is made where there is none."""
    client = app.test_client(use_cookies=False)
    client.environ_base["HTTP_COOKIE"] = ask_svc("sign-in", email=email)["cookie"]
    return client


def test_visitors_are_sent_to_the_login_page():
    answer = app.test_client().get("/notes")
    assert (answer.status_code, answer.location) == (303, "/auth/login?return_to=%2Fnotes")


def test_users_see_their_own_notes():
    ada, mary = client_of("ada@example.com"), client_of("mary@example.com")
    assert ada.post("/notes", data={"text": "bread"}).status_code == 303
    assert "bread" in ada.get("/notes").text
    assert "Notes of mary" in mary.get("/notes").text
    assert "bread" not in mary.get("/notes").text


def test_an_expired_session_is_none():
    ada = client_of("ada@example.com")
    assert ada.get("/notes").status_code == 200
    ask_svc("clock", forward="15m")
    assert ada.post("/notes", data={"text": "late"}).status_code == 401
    ask_svc("reset")
    assert ada.get("/notes").status_code == 303
