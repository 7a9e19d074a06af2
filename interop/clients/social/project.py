"""A Django project with social-auth-app-django and the values that `app create --for generic` prints, on the port of its parameter."""

import sys
import types
from pathlib import Path
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application

sys.path.append(str(Path(__file__).parents[1]))
from printed_values import printed_values  # noqa: E402

printed = printed_values("OpenID Connect")

settings.configure(
    SECRET_KEY="x" * 50,
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF="urls",
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "social_django",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["social_core.backends.open_id_connect.OpenIdConnectAuth"],
    LOGIN_REDIRECT_URL="/",
    SOCIAL_AUTH_OIDC_OIDC_ENDPOINT=printed["Issuer"],
    SOCIAL_AUTH_OIDC_KEY=printed["Client ID"],
    SOCIAL_AUTH_OIDC_SECRET=printed["Client secret"],
    SOCIAL_AUTH_OIDC_SCOPE=printed["Scopes"].split(" "),
    SOCIAL_AUTH_OIDC_USE_PKCE=True,
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from social_django.models import UserSocialAuth  # noqa: E402


def home(request):
    account = UserSocialAuth.objects.filter(user_id=request.user.pk).first()
    if account is None:
        return JsonResponse({})
    user = account.user
    return JsonResponse({"sub": account.uid, "name": user.get_full_name(), "email": user.email})


call_command("migrate", verbosity=0)
urls = types.ModuleType("urls")
urls.urlpatterns = [path("", home), path("", include("social_django.urls", namespace="social"))]
sys.modules["urls"] = urls
make_server("localhost", int(sys.argv[1]), get_wsgi_application()).serve_forever()
