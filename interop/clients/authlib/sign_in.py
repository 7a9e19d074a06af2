"""Runs the app.py that `app create --for authlib` prints, without a network of its own: see client-run.ts for the lines."""

import json
import sys
from urllib.parse import urlencode, urlsplit

import app as printed

BASE = "http://localhost:5000"
tokens = {}
client = printed.app.test_client()
registered = printed.oauth.signet
exchange = registered.authorize_access_token


def remembered(**more):
    tokens.update(exchange(**more))
    return tokens


registered.authorize_access_token = remembered


def say(**what):
    print(json.dumps(what), flush=True)


say(authorize=client.get("/login", base_url=BASE).headers["Location"])
callback = urlsplit(sys.stdin.readline().strip())
answer = client.get(f"{callback.path}?{callback.query}", base_url=BASE)
if answer.status_code != 302:
    raise SystemExit(f"the callback answered {answer.status_code}: {answer.get_data(as_text=True)}")
user = client.get("/", base_url=BASE).get_json()
with printed.app.test_request_context(base_url=BASE):
    fresh = registered.fetch_access_token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    metadata = registered.load_server_metadata()
    userinfo = registered.userinfo(token=fresh)
query = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": f"{BASE}/"}
say(
    sub=user["sub"],
    name=user["name"],
    email=user["email"],
    refreshed=userinfo["sub"] == user["sub"] and fresh["access_token"] != tokens["access_token"],
    signOut=f"{metadata['end_session_endpoint']}?{urlencode(query)}",
)
