"""Authlib signs people in with Signet. See README.md."""

import os
import secrets
from html import escape
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import HTMLResponse, RedirectResponse

from signet import oauth

HOME = f"http://localhost:{os.environ.get('PORT', '3000')}/"

app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=os.environ["SESSION_SECRET"])
# A session cookie can be read in the browser: it has a random name of what is kept here.
sessions = {}


def page(kept):
    if not kept:
        return '<p><a id="sign-in" href="/login">Sign in</a></p>'
    user = kept["userinfo"]
    facts = {
        "name": user["name"],
        "email": user["email"],
        "roles": ", ".join(user.get("roles", [])),
        "org": user["iss"].rsplit("/", 1)[-1],
        "token": kept["access_token"][-8:],
    }
    listed = "".join(f"<dt>{term}</dt><dd>{escape(text)}</dd>" for term, text in facts.items())
    return f'<dl>{listed}</dl><a id="sign-out" href="/logout">Sign out</a>'


@app.get("/")
async def home(request: Request):
    return HTMLResponse(page(sessions.get(request.session.get("id"))))


@app.get("/login")
async def login(request: Request):
    return await oauth.signet.authorize_redirect(request, f"{HOME}auth/callback")


@app.get("/auth/callback")
async def callback(request: Request):
    token = await oauth.signet.authorize_access_token(request)
    request.session["id"] = secrets.token_urlsafe()
    sessions[request.session["id"]] = dict(token)
    return RedirectResponse("/")


@app.get("/refresh")
async def refresh(request: Request):
    kept = sessions.get(request.session.get("id"))
    if not kept:
        return RedirectResponse("/")
    fresh = await oauth.signet.fetch_access_token(grant_type="refresh_token", refresh_token=kept["refresh_token"])
    kept.update(fresh)
    return RedirectResponse("/")


@app.get("/logout")
async def logout(request: Request):
    kept = sessions.pop(request.session.pop("id", None), None)
    if not kept:
        return RedirectResponse("/")
    metadata = await oauth.signet.load_server_metadata()
    query = urlencode({"id_token_hint": kept["id_token"], "post_logout_redirect_uri": HOME})
    return RedirectResponse(f"{metadata['end_session_endpoint']}?{query}")
