"""A Django project with the lines that `app create --for allauth` prints, on the port of its parameter. `/` answers who it is."""

import sys
import types
from pathlib import Path
from wsgiref.simple_server import make_server

import django
from django.conf import settings as configured
from django.core.wsgi import get_wsgi_application


def printed(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    exec(Path(f"{name}.py").read_text(), module.__dict__)
    sys.modules[name] = module
    return module


# What `django-admin startproject` makes of it.
project = printed(
    "settings",
    SECRET_KEY="x" * 50,
    DEBUG=False,
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF="urls",
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
)
configured.configure(**{name: value for name, value in vars(project).items() if name.isupper()})
django.setup()

from allauth.socialaccount.models import SocialAccount  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402


def home(request):
    account = SocialAccount.objects.filter(user_id=request.user.pk).first()
    if account is None:
        return JsonResponse({})
    user = account.user
    return JsonResponse({"sub": account.uid, "name": user.get_full_name(), "email": user.email})


call_command("migrate", verbosity=0)
printed("urls", urlpatterns=[path("", home)])
make_server("localhost", int(sys.argv[1]), get_wsgi_application()).serve_forever()
