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


# Not kept from one call to the next, as schemathesis does by itself: each operation has its own kind.
@schemathesis.auth(refresh_interval=None)
class Credentials:
    """As a provider, so that schemathesis knows which calls it has left without."""

    def get(self, case, context):
        names = [name for one in context.operation.definition.raw.get("security", []) for name in one]
        if {"systemAccount", "administratorAccount"} & set(names):
            return Signed()
        return next((Bearer(BEARER[name]) for name in names if name in BEARER), None)

    def set(self, case, auth, context):
        case._auth = auth


@schemathesis.hook
def before_call(context, case, kwargs):
    """With generated ids nothing but 404 would be seen. What is no id stays as it is, for it may be wrong on purpose."""
    for name, value in (case.path_parameters or {}).items():
        if is_generated(value):
            case.path_parameters[name] = record(case, name) or value


def record(case, name):
    for method, beginning, values in RECORDS:
        if case.method in (method, method.upper()) or method == "*":
            if case.operation.path.startswith(beginning) and name in values:
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
