"""An API that takes Signet's access tokens. See README.md."""

import os

import httpx
import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ISSUER = os.environ["SIGNET_ISSUER"]
AUDIENCE = os.environ["API_IDENTIFIER"]

metadata = httpx.get(f"{ISSUER}/.well-known/openid-configuration").raise_for_status().json()
# Fetched again for a key that it does not know, and kept for five minutes.
keys = jwt.PyJWKClient(metadata["jwks_uri"])
app = FastAPI()


def refuse(status, error, text):
    # As RFC 6750 section 3 says: clients read it.
    challenge = f'Bearer error="{error}", error_description="{text}"'
    return HTTPException(status, text, {"WWW-Authenticate": challenge})


def caller(sent: HTTPAuthorizationCredentials | None = Depends(HTTPBearer(auto_error=False))):
    if sent is None:
        raise HTTPException(401, "no access token", {"WWW-Authenticate": "Bearer"})
    token = sent.credentials
    try:
        # An ID token is signed with the same keys; its type is another one (RFC 9068).
        if jwt.get_unverified_header(token).get("typ", "").lower() != "at+jwt":
            raise jwt.InvalidTokenError("not an access token")
        claims = jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token),
            algorithms=["ES256", "RS256"],
            issuer=ISSUER,
            audience=AUDIENCE,
            leeway=30,
            options={"require": ["exp", "iat", "iss", "aud", "sub"]},
        )
    except jwt.PyJWKClientConnectionError as error:
        raise HTTPException(503, "the keys of the issuer can't be fetched") from error
    except jwt.PyJWTError as error:
        raise refuse(401, "invalid_token", "the access token is not valid here") from error
    # A token that is bound to a key is worth nothing without the proof, which this API doesn't check.
    if "cnf" in claims:
        raise refuse(401, "invalid_token", "tokens bound to a key are not taken here")
    return {**claims, "token": token}


def with_scope(scope):
    def check(claims=Depends(caller)):
        if scope not in claims.get("scope", "").split():
            raise refuse(403, "insufficient_scope", f"the access token needs the scope {scope}")
        return claims

    return check


def with_role(role):
    def check(claims=Depends(caller)):
        if role not in claims.get("roles", []):
            raise refuse(403, "insufficient_scope", f"the user needs the role {role}")
        return claims

    return check


@app.get("/me")
def me(claims=Depends(caller)):
    # Name and email are in no access token: userinfo tells them to whoever has one with the scope openid.
    headers = {"Authorization": f"Bearer {claims['token']}"}
    user = httpx.get(metadata["userinfo_endpoint"], headers=headers).raise_for_status().json()
    return {
        "name": user.get("name"),
        "email": user.get("email"),
        "roles": claims.get("roles", []),
        "org": claims["iss"].rsplit("/", 1)[-1],
    }


# What the application may do.
@app.get("/notes")
def notes(claims=Depends(with_scope("notes:read"))):
    return {"notes": [], "of": claims["sub"]}


# What the person may do.
@app.get("/drafts")
def drafts(claims=Depends(with_role("editor"))):
    return {"drafts": [], "of": claims["sub"]}
