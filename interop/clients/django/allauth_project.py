"""A Django project with the lines that `app create --for allauth` prints, on the port of its parameter. `/` answers who it is."""

import sys
from wsgiref.simple_server import make_server

from django.core.wsgi import get_wsgi_application
from printed_project import finish, set_up

set_up(
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

from allauth.socialaccount.models import SocialAccount  # noqa: E402
from django.http import JsonResponse  # noqa: E402


def home(request):
    account = SocialAccount.objects.filter(user_id=request.user.pk).first()
    if account is None:
        return JsonResponse({})
    user = account.user
    return JsonResponse({"sub": account.uid, "name": user.get_full_name(), "email": user.email})


finish(home)
make_server("localhost", int(sys.argv[1]), get_wsgi_application()).serve_forever()
