/** Stacks of web frameworks in Java, Go, Rust, Ruby, C# and PHP. */
import { claimsInIdToken, nonceInPlaceOfPkce, rs256, type Stack } from "./stack.ts";

const web = {
  clientType: "confidential",
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
} as const satisfies Partial<Stack>;

/**
 * Spring Security verifies RS256, sends a nonce, and PKCE only from version 7 or by code. As a resource server its decoder refuses
 * the type at+jwt. Claims come from userinfo.
 */
export const spring: Stack = {
  ...web,
  title: "Spring Boot",
  // Its own default is 8080, where Signet listens by default too.
  address: "http://localhost:8081",
  redirects: ["/login/oauth2/code/signet"],
  // `{baseUrl}` of OidcClientInitiatedLogoutSuccessHandler has no slash at its end.
  postLogoutRedirects: ["/", ""],
  auth: "client_secret_basic",
  settings: {
    ...nonceInPlaceOfPkce,
    ...rs256,
    ...claimsInIdToken,
    accessTokenSignedResponseAlg: "RS256",
    accessTokenType: "JWT",
  },
  setup: ({ issuer, clientId, clientSecret, address, redirectUri, scope }) => [
    {
      file: "application.yml",
      lines: `${serverPort(address)}spring:
  security:
    oauth2:
      client:
        registration:
          signet:
            client-id: ${clientId}
            client-secret: ${clientSecret}
            client-authentication-method: client_secret_basic
            authorization-grant-type: authorization_code
            redirect-uri: "${redirectUri}"
            scope: ${scope.replaceAll(" ", ",")}
        provider:
          signet:
            issuer-uri: ${issuer}`,
    },
    {
      file: "application.yml of an API (resource server)",
      lines: `spring:
  security:
    oauth2:
      resourceserver:
        jwt:
          issuer-uri: ${issuer}
          audiences: ${issuer}`,
    },
  ],
};

/** For a server on this machine that nothing stands in front of. */
function serverPort(address: string): string {
  const { protocol, port } = new URL(address);
  return protocol === "http:" && port !== "" ? `server:\n  port: ${port}\n` : "";
}

/** go-oidc reads the algorithms from discovery; x/oauth2 tries client_secret_basic first. */
export const go: Stack = {
  ...web,
  title: "Go (go-oidc, x/oauth2)",
  address: "http://localhost:3000",
  redirects: ["/auth/callback"],
  auth: "client_secret_basic",
  settings: claimsInIdToken,
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "main.go",
      lines: `provider, err := oidc.NewProvider(ctx, "${issuer}")
if err != nil {
	log.Fatal(err)
}
config := oauth2.Config{
	ClientID:     "${clientId}",
	ClientSecret: "${clientSecret}",
	Endpoint:     provider.Endpoint(),
	RedirectURL:  "${redirectUri}",
	Scopes:       []string{${scope
    .split(" ")
    .map((one) => `"${one}"`)
    .join(", ")}},
}

// Sign-in: keep state, nonce and verifier in the session.
verifier := oauth2.GenerateVerifier()
url := config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))

// Callback: compare the state, then
token, err := config.Exchange(r.Context(), r.URL.Query().Get("code"), oauth2.VerifierOption(verifier))
if err != nil {
	http.Error(w, err.Error(), http.StatusBadGateway)
	return
}
rawIDToken, _ := token.Extra("id_token").(string)
idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(r.Context(), rawIDToken)
if err != nil || idToken.Nonce != nonce {
	http.Error(w, "the ID token is not of this sign-in", http.StatusBadGateway)
	return
}
// Then read name and email by idToken.Claims(&claims).`,
    },
  ],
};

/** The verifier of `openidconnect` knows RS256 only unless it is told otherwise. */
export const rust: Stack = {
  ...web,
  title: "Rust (openidconnect)",
  address: "http://localhost:3000",
  redirects: ["/auth/callback"],
  auth: "client_secret_basic",
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "main.rs",
      lines: `let metadata = CoreProviderMetadata::discover_async(
    IssuerUrl::new("${issuer}".to_string())?,
    &http_client,
)
.await?;
let client = CoreClient::from_provider_metadata(
    metadata,
    ClientId::new("${clientId}".to_string()),
    Some(ClientSecret::new("${clientSecret}".to_string())),
)
.set_redirect_uri(RedirectUrl::new("${redirectUri}".to_string())?);

// Sign-in: keep the state, the nonce and the verifier in the session.
let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
let (url, state, nonce) = client
    .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
${scope
  .split(" ")
  .filter((one) => one !== "openid")
  .map((one) => `    .add_scope(Scope::new("${one}".to_string()))`)
  .join("\n")}
    .set_pkce_challenge(challenge)
    .url();

// Callback: compare the state, then
let token = client.exchange_code(code)?.set_pkce_verifier(verifier).request_async(&http_client).await?;
let id_token = token.id_token().ok_or("no ID token")?;
let claims = id_token.claims(&client.id_token_verifier(), &nonce)?;`,
    },
  ],
};

/**
 * omniauth_openid_connect has PKCE from 0.6; the version of Debian sends a nonce only. Its own sign-out tells neither the client nor
 * the ID token, so that Signet could not lead back: the printed controller tells the token.
 */
export const rails: Stack = {
  ...web,
  title: "Rails (omniauth_openid_connect)",
  address: "http://localhost:3000",
  redirects: ["/auth/openid_connect/callback"],
  auth: "client_secret_basic",
  settings: { ...nonceInPlaceOfPkce, ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, postLogoutRedirectUri, scope }) => {
    const { protocol, hostname, port } = new URL(issuer);
    return [
      {
        file: "config/initializers/omniauth.rb",
        lines: `Rails.application.config.middleware.use OmniAuth::Builder do
  provider :openid_connect,
    name: :openid_connect,
    issuer: "${issuer}",
    scope: %i[${scope}],
    response_type: :code,
    pkce: true,
    uid_field: "sub",
    client_auth_method: :basic,
    client_signing_alg: :RS256,
    client_options: {
      scheme: "${protocol.slice(0, -1)}",
      host: "${hostname}",
      port: ${port === "" ? (protocol === "https:" ? 443 : 80) : port},
      authorization_endpoint: "${issuer}/authorize",
      token_endpoint: "${issuer}/token",
      userinfo_endpoint: "${issuer}/userinfo",
      jwks_uri: "${issuer}/.well-known/jwks.json",
      identifier: "${clientId}",
      secret: "${clientSecret}",
      redirect_uri: "${redirectUri}",
    }
end`,
      },
      {
        file: "config/routes.rb",
        lines: `Rails.application.routes.draw do
  get "${new URL(redirectUri).pathname}", to: "sessions#create"
  delete "/logout", to: "sessions#destroy"
end`,
      },
      {
        file: "app/controllers/sessions_controller.rb",
        lines: `class SessionsController < ApplicationController
  def create
    auth = request.env["omniauth.auth"]
    reset_session
    session[:user] = { "sub" => auth.uid, "name" => auth.info.name, "email" => auth.info.email }
    session[:id_token] = auth.credentials.id_token
    redirect_to "/"
  end

  def destroy
    query = { id_token_hint: session[:id_token], post_logout_redirect_uri: "${postLogoutRedirectUri}" }
    reset_session
    redirect_to "${issuer}/end_session?#{query.to_query}", allow_other_host: true
  end
end`,
      },
    ];
  },
};

/** The handler of ASP.NET Core sends PKCE and a nonce, and asks for the code by form_post. */
export const dotnet: Stack = {
  ...web,
  title: "ASP.NET Core",
  address: "https://localhost:5001",
  redirects: ["/signin-oidc"],
  postLogoutRedirects: ["/signout-callback-oidc"],
  auth: "client_secret_post",
  settings: claimsInIdToken,
  setup: ({ issuer, clientId, clientSecret, scope }) => [
    {
      file: "Program.cs",
      lines: `using System.Security.Claims;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "${issuer}";${plainHttp(issuer)}
        options.ClientId = "${clientId}";
        options.ClientSecret = "${clientSecret}";
        options.ResponseType = "code";
        options.UsePkce = true;
        options.MapInboundClaims = false;
        options.SaveTokens = true;
${scope
  .split(" ")
  .filter((one) => one !== "openid" && one !== "profile")
  .map((one) => `        options.Scope.Add("${one}");`)
  .join("\n")}
    });
builder.Services.AddAuthorization();

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();
app.MapGet("/", (ClaimsPrincipal user) => $"Signed in as {user.FindFirstValue("email")}").RequireAuthorization();
app.Run();`,
    },
  ],
};

/** The handler refuses an authority without TLS otherwise. */
const plainHttp = (issuer: string): string =>
  issuer.startsWith("http:")
    ? "\n        options.RequireHttpsMetadata = false; // on this computer only"
    : "";

export const php: Stack = {
  ...web,
  title: "PHP (jumbojett/openid-connect-php)",
  address: "http://localhost:8000",
  // PHP's own server finds it at "/" too.
  redirects: ["/index.php"],
  auth: "client_secret_basic",
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "index.php",
      lines: `<?php
require __DIR__ . '/vendor/autoload.php';

$oidc = new Jumbojett\\OpenIDConnectClient('${issuer}', '${clientId}', '${clientSecret}');
$oidc->setRedirectURL('${redirectUri}');
$oidc->addScope(['${scope.split(" ").join("', '")}']);
$oidc->setCodeChallengeMethod('S256');
$oidc->authenticate();
echo htmlspecialchars($oidc->getVerifiedClaims('email'));`,
    },
  ],
};
