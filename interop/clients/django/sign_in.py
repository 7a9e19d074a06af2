"""A Django project with the lines that `app create --for django` prints: see client-run.ts for the lines in and out."""

import json
import sys
import types
from pathlib import Path
from urllib.parse import urlsplit

import django
from django.conf import settings as configured

here = Path.cwd()
HOST = "localhost:8000"


def printed(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    exec((here / f"{name}.py").read_text(), module.__dict__)
    sys.modules[name] = module
    return module


project = printed(
    "settings",
    SECRET_KEY="x" * 50,
    DEBUG=False,
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF="urls",
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
)
configured.configure(**{name: value for name, value in vars(project).items() if name.isupper()})
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402
from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402

call_command("migrate", verbosity=0)
printed("urls", urlpatterns=[path("", lambda request: HttpResponse("home"))])

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
