/** Stacks in Python. */
import { claimsInIdToken, rs256, type Stack, type StackValues } from "./stack.ts";

/** mozilla-django-oidc. Its default algorithm is HS256, so the settings name one; claims come from userinfo. */
export const django: Stack = {
  title: "Django (mozilla-django-oidc)",
  clientType: "confidential",
  address: "http://localhost:8000",
  redirects: ["/oidc/callback/"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  auth: "client_secret_post",
  settings: rs256,
  setup: ({ issuer, clientId, clientSecret, scope, postLogoutRedirectUri }) => [
    {
      file: "settings.py",
      lines: `INSTALLED_APPS += ["mozilla_django_oidc"]
AUTHENTICATION_BACKENDS = [
    "mozilla_django_oidc.auth.OIDCAuthenticationBackend",
    "django.contrib.auth.backends.ModelBackend",
]
OIDC_RP_CLIENT_ID = "${clientId}"
OIDC_RP_CLIENT_SECRET = "${clientSecret}"
OIDC_RP_SCOPES = "${scope}"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = "${issuer}/authorize"
OIDC_OP_TOKEN_ENDPOINT = "${issuer}/token"
OIDC_OP_USER_ENDPOINT = "${issuer}/userinfo"
OIDC_OP_JWKS_ENDPOINT = "${issuer}/.well-known/jwks.json"
OIDC_STORE_ID_TOKEN = True
OIDC_OP_LOGOUT_URL_METHOD = "signet_logout.logout_url"
LOGIN_URL = "oidc_authentication_init"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"`,
    },
    {
      file: "urls.py",
      lines: `from django.urls import include, path

urlpatterns += [path("oidc/", include("mozilla_django_oidc.urls"))]`,
    },
    {
      file: "signet_logout.py",
      lines: `from urllib.parse import urlencode


def logout_url(request):
    query = {
        "client_id": "${clientId}",
        "post_logout_redirect_uri": "${postLogoutRedirectUri}",
        "id_token_hint": request.session.get("oidc_id_token", ""),
    }
    return "${issuer}/end_session?" + urlencode(query)`,
    },
  ],
};

export const allauth: Stack = {
  title: "Django (django-allauth)",
  clientType: "confidential",
  address: "http://localhost:8000",
  redirects: ["/accounts/oidc/signet/login/callback/"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  auth: "client_secret_basic",
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, scope }) => [
    {
      file: "settings.py",
      lines: `INSTALLED_APPS += ["allauth", "allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
LOGIN_REDIRECT_URL = "/"
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "SCOPE": ${JSON.stringify(scope.split(" "))},
        "APPS": [
            {
                "provider_id": "signet",
                "name": "Signet",
                "client_id": "${clientId}",
                "secret": "${clientSecret}",
                "settings": {
                    "server_url": "${issuer}/.well-known/openid-configuration",
                    "token_auth_method": "client_secret_basic",
                },
            }
        ],
    }
}`,
    },
    {
      file: "urls.py",
      lines: `from django.urls import include, path

urlpatterns += [path("accounts/", include("allauth.urls"))]`,
    },
  ],
};

/** Authlib reads the user from the ID token, and sends PKCE only when told to. */
const withAuthlib = { auth: "client_secret_basic", settings: claimsInIdToken } as const;

const registration = ({ issuer, clientId, clientSecret, scope }: StackValues): string => `oauth.register(
    name="signet",
    client_id="${clientId}",
    client_secret="${clientSecret}",
    server_metadata_url="${issuer}/.well-known/openid-configuration",
    client_kwargs={"scope": "${scope}", "code_challenge_method": "S256"},
)`;

export const authlib: Stack = {
  ...withAuthlib,
  title: "Flask (Authlib)",
  clientType: "confidential",
  address: "http://localhost:5000",
  redirects: ["/auth/callback"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  setup: (values) => [
    {
      file: "app.py",
      lines: `import secrets

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = secrets.token_hex(32)
oauth = OAuth(app)
${registration(values)}


@app.get("/login")
def login():
    return oauth.signet.authorize_redirect("${values.redirectUri}")


@app.get("${new URL(values.redirectUri).pathname}")
def callback():
    token = oauth.signet.authorize_access_token()
    session["user"] = token["userinfo"]
    return redirect("/")


@app.get("/")
def home():
    return session.get("user") or redirect("/login")`,
    },
  ],
};

export const fastapi: Stack = {
  ...authlib,
  title: "FastAPI (Authlib)",
  address: "http://localhost:8000",
  setup: (values) => [
    {
      file: "main.py",
      lines: `import secrets

from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import RedirectResponse

app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=secrets.token_hex(32))
oauth = OAuth()
${registration(values)}


@app.get("/login")
async def login(request: Request):
    return await oauth.signet.authorize_redirect(request, "${values.redirectUri}")


@app.get("${new URL(values.redirectUri).pathname}")
async def callback(request: Request):
    token = await oauth.signet.authorize_access_token(request)
    request.session["user"] = dict(token["userinfo"])
    return RedirectResponse("/")


@app.get("/")
async def home(request: Request):
    return request.session.get("user") or RedirectResponse("/login")`,
    },
  ],
};
