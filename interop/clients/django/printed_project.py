"""A Django project of the lines that `app create` has printed into this folder, beside those of `django-admin startproject`."""

import sys
import types
from pathlib import Path

import django
from django.conf import settings as configured


def printed(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    exec(Path(f"{name}.py").read_text(), module.__dict__)
    sys.modules[name] = module
    return module


def set_up(**more):
    """Before anything is imported that needs the settings."""
    project = printed(
        "settings",
        SECRET_KEY="x" * 50,
        DEBUG=False,
        ALLOWED_HOSTS=["localhost"],
        ROOT_URLCONF="urls",
        USE_TZ=True,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        **more,
    )
    configured.configure(**{name: value for name, value in vars(project).items() if name.isupper()})
    django.setup()


def finish(home):
    """Makes the tables, and reads the printed addresses; `/` is the view."""
    from django.core.management import call_command
    from django.urls import path

    call_command("migrate", verbosity=0)
    printed("urls", urlpatterns=[path("", home)])
