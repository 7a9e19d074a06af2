"""Whom Signet has signed in."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render


def home(request):
    facts = {}
    if request.user.is_authenticated:
        facts = {
            "name": request.user.first_name,
            "email": request.user.email,
            # Also in templates and decorators: request.user.groups.filter(name="editor").
            "roles": ", ".join(group.name for group in request.user.groups.order_by("name")),
            "org": settings.OIDC_OP_TOKEN_ENDPOINT.split("/")[-2],
            "token": request.session["oidc_access_token"][-8:],
        }
    return render(request, "page.html", {"facts": facts})


@login_required
def refresh(request):
    """As if the time of the ID token were over: the middleware asks Signet at the next page."""
    request.session["oidc_id_token_expiration"] = 0
    return redirect("/")
