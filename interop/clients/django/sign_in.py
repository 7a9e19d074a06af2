"""A Django project with the lines that `app create --for django` prints: see client-run.ts for the lines in and out."""

import json
import sys
from urllib.parse import urlsplit

from printed_project import finish, set_up

HOST = "localhost:8000"

set_up(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
)

from django.contrib.auth import get_user_model  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.test import Client  # noqa: E402
from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402

finish(lambda request: HttpResponse("home"))

seen = {}
get_userinfo = OIDCAuthenticationBackend.get_userinfo


def remembered(self, *parameters):
    seen.update(get_userinfo(self, *parameters))
    return seen


OIDCAuthenticationBackend.get_userinfo = remembered


def say(**what):
    print(json.dumps(what), flush=True)


client = Client(HTTP_HOST=HOST)
say(authorize=client.get("/oidc/authenticate/").headers["Location"])
callback = urlsplit(sys.stdin.readline().strip())
answer = client.get(f"{callback.path}?{callback.query}")
user = get_user_model().objects.filter(pk=client.session.get("_auth_user_id")).first()
if user is None:
    raise SystemExit(f"the callback answered {answer.status_code}, and nobody is signed in")
say(
    sub=seen["sub"],
    name=seen["name"],
    email=user.email,
    signOut=client.post("/oidc/logout/").headers["Location"],
)
