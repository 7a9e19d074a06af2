"""Flask with Flask-pyoidc and the values that `app create --for generic` prints, on the port of its parameter."""

import sys
from pathlib import Path

from flask import Flask, session
from flask_pyoidc import OIDCAuthentication
from flask_pyoidc.provider_configuration import ClientMetadata, ProviderConfiguration
from flask_pyoidc.user_session import UserSession

sys.path.append(str(Path(__file__).parents[1]))
from printed_values import printed_values  # noqa: E402

printed = printed_values("OpenID Connect")
port = int(sys.argv[1])

app = Flask(__name__)
app.config.update(OIDC_REDIRECT_URI=printed["Redirect URI"], SECRET_KEY=printed["Client secret"])
client = ClientMetadata(printed["Client ID"], printed["Client secret"])
provider = ProviderConfiguration(
    issuer=printed["Issuer"],
    client_metadata=client,
    auth_request_params={"scope": printed["Scopes"].split(" ")},
)
auth = OIDCAuthentication({"signet": provider}, app)


@app.get("/")
@auth.oidc_auth("signet")
def user():
    return UserSession(session).userinfo


app.run("localhost", port)
