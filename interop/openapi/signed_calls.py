"""Hooks of schemathesis: each call has the credential that its operation's security asks for, and names records that exist."""

import base64
import hashlib
import hmac
import json
import os
import time
import uuid
from urllib.parse import urlsplit

import requests
import schemathesis

KEY = os.environ["SIGNET_PUBLIC_KEY"]
SECRET = os.environ["SIGNET_SECRET"].encode()
# By the name of the security scheme.
BEARER = json.loads(os.environ["SIGNET_BEARER"])
# Values of path parameters, by the beginning of the path and, for what is destroyed, by method: the first that fits counts.
RECORDS = json.loads(os.environ["SIGNET_RECORDS"])
# Answers with calls that succeed, of operations whose values nobody can make up.
REAL_CALLS = os.environ["SIGNET_REAL_CALLS"]
GIVEN = set()
# Operations that succeeded, a line each.
SUCCEEDED = os.environ["SIGNET_SUCCEEDED"]


class Signed(requests.auth.AuthBase):
    """The strict form: it covers method and address, and a nonce makes each call new."""

    def __call__(self, request):
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        if not isinstance(body, bytes):
            return request
        parts = urlsplit(request.url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        timestamp, nonce = str(int(time.time())), str(uuid.uuid4())
        text = f"{request.method}\n{target}\n{timestamp}\n{nonce}\n".encode() + body
        signature = base64.b64encode(hmac.new(SECRET, text, hashlib.sha256).digest()).decode()
        request.headers["Authorization"] = f"{KEY}:{signature}"
        request.headers["X-Signet-Timestamp"] = timestamp
        request.headers["X-Signet-Nonce"] = nonce
        return request


class Bearer(requests.auth.AuthBase):
    def __init__(self, token):
        self.token = token

    def __call__(self, request):
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request


class SessionKey(requests.auth.AuthBase):
    """In the query."""

    def __init__(self, key):
        self.key = key

    def __call__(self, request):
        request.prepare_url(request.url, {"key": self.key})
        return request


class Headers(requests.auth.AuthBase):
    def __init__(self, headers):
        self.headers = headers

    def __call__(self, request):
        request.headers.update(self.headers)
        return request


# Not kept from one call to the next, as schemathesis does by itself: each operation has its own kind.
@schemathesis.auth(refresh_interval=None)
class Credentials:
    """As a provider, so that schemathesis knows which calls it has left without."""

    def get(self, case, context):
        return credentials_of(context.operation)

    def set(self, case, auth, context):
        case._auth = auth


def credentials_of(operation):
    security = operation.definition.raw.get("security", [])
    names = [name for one in security for name in one]
    if ["sessionKey"] in [list(one) for one in security]:
        return SessionKey(BEARER["sessionKey"])
    if {"systemAccount", "administratorAccount"} & set(names):
        return Signed()
    return next((Bearer(BEARER[name]) for name in names if name in BEARER), None)


@schemathesis.hook
def before_add_examples(context, examples):
    operation = context.operation
    asked = {"operation": f"{operation.method.upper()} {operation.path}"}
    answer = requests.get(REAL_CALLS, params=asked, timeout=60)
    assert answer.status_code == 200, answer.text
    for call in answer.json():
        path = {name: record_of(operation.method, operation.path, name) for name in names_in(operation.path)}
        path.update(call.get("path", {}))
        GIVEN.update(path.values())
        parts = {"path_parameters": path, "headers": call.get("headers", {})}
        if "body" in call:
            content = operation.definition.raw["requestBody"]["content"]
            parts.update(body=call["body"], media_type=next(iter(content)))
        if "query" in call:
            parts.update(query=call["query"])
        case = operation.Case(**parts)
        if "sessionKey" in call:
            case._auth = SessionKey(call["sessionKey"])
        else:
            case._auth = Headers(call["credentials"]) if "credentials" in call else credentials_of(operation)
        case._has_explicit_auth = case._auth is not None
        examples.append(case)


def names_in(path):
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


@schemathesis.hook
def before_call(context, case, kwargs):
    """With generated ids nothing but 404 would be seen. What is no id stays as it is, for it may be wrong on purpose."""
    for name, value in (case.path_parameters or {}).items():
        if is_generated(value) and value not in GIVEN:
            case.path_parameters[name] = record_of(case.method, case.operation.path, name) or value


@schemathesis.hook
def after_call(context, case, response):
    if 200 <= response.status_code < 300:
        with open(SUCCEEDED, "a") as file:
            file.write(f"{case.method.upper()} {case.operation.path}\n")


def record_of(method, path, name):
    for of, beginning, values in RECORDS:
        if of in ("*", method.upper()) and path.startswith(beginning) and name in values:
            return values[name]
    return None


def is_generated(value):
    """An id, or the example of a session key."""
    try:
        return value.startswith("sgn_sk_") or str(uuid.UUID(value)) == value
    except (AttributeError, TypeError, ValueError):
        return False


@schemathesis.serializer("application/ocsp-request")
def ocsp_request(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
