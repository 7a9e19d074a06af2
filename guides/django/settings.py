"""The smallest project with users and sessions. What Signet prints for settings.py stands at the end. See README.md."""

import os
from pathlib import Path

SECRET_KEY = os.environ["SESSION_SECRET"]
DEBUG = False
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
USE_TZ = True
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": Path(__file__).with_name("guide.db")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Asks Signet again, without a page, when the time of the ID token is over.
    "mozilla_django_oidc.middleware.SessionRefresh",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [Path(__file__).parent]}]
OIDC_STORE_ACCESS_TOKEN = True
# The page signs out by a form: mozilla-django-oidc takes POST alone.

# What Signet prints for settings.py:
