"""Hooks of schemathesis: each call is signed as its operation's security asks, over the bytes that are sent."""

import base64
import hashlib
import hmac
import os
import time
import uuid
from urllib.parse import urlsplit

import requests
import schemathesis

KEY = os.environ["SIGNET_PUBLIC_KEY"]
SECRET = os.environ["SIGNET_SECRET"].encode()
BEARER = os.environ["SIGNET_BEARER"]
ORGANISATION = os.environ["SIGNET_ORGANISATION"]


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
    def __call__(self, request):
        request.headers["Authorization"] = f"Bearer {BEARER}"
        return request


@schemathesis.auth()
class Credentials:
    """As a provider, so that schemathesis knows which calls it has left without."""

    def get(self, case, context):
        names = {name for one in context.operation.definition.raw.get("security", []) for name in one}
        if names & {"systemAccount", "administratorAccount"}:
            return Signed()
        return Bearer() if "accessToken" in names else None

    def set(self, case, auth, context):
        case._auth = auth


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """An organisation that exists: with generated ones nothing but 404 would be seen. What is no UUID stays as it is."""
    if path_parameters and is_uuid(path_parameters.get("org")):
        path_parameters["org"] = ORGANISATION
    return path_parameters


def is_uuid(value):
    try:
        return str(uuid.UUID(value)) == value
    except (AttributeError, TypeError, ValueError):
        return False


@schemathesis.serializer("application/ocsp-request")
def ocsp_request(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
