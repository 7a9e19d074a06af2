/** Stacks in JavaScript. */
import { randomSecret } from "@signet/protocol/hash";
import { claimsInIdToken, type Stack, type StackValues } from "./stack.ts";

/** Auth.js reads name and email from the ID token and never asks userinfo. */
const withAuthjs = {
  clientType: "confidential",
  address: "http://localhost:3000",
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  auth: "client_secret_basic",
  settings: claimsInIdToken,
} as const satisfies Partial<Stack>;

const authEnvironment = ({ issuer, clientId, clientSecret, address }: StackValues) => ({
  file: ".env.local",
  lines: `AUTH_SIGNET_ISSUER=${issuer}
AUTH_SIGNET_ID=${clientId}
AUTH_SIGNET_SECRET='${clientSecret}'
AUTH_SECRET=${randomSecret("")}
AUTH_URL=${address}`,
});

const provider = ({ scope }: StackValues, environment: string): string => `{
      id: "signet",
      name: "Signet",
      type: "oidc",
      issuer: ${environment}.AUTH_SIGNET_ISSUER,
      clientId: ${environment}.AUTH_SIGNET_ID,
      clientSecret: ${environment}.AUTH_SIGNET_SECRET,
      checks: ["pkce", "state", "nonce"],
      authorization: { params: { scope: "${scope}" } },
    }`;

export const nextjs: Stack = {
  ...withAuthjs,
  title: "Next.js (Auth.js)",
  redirects: ["/api/auth/callback/signet"],
  setup: (values) => [
    authEnvironment(values),
    {
      file: "auth.config.ts",
      lines: `export const authConfig = {
  providers: [
    ${provider(values, "process.env")},
  ],
};`,
    },
    {
      file: "auth.ts",
      lines: `import NextAuth from "next-auth";
import { authConfig } from "./auth.config";

export const { handlers, auth, signIn, signOut } = NextAuth(authConfig);`,
    },
    {
      file: "app/api/auth/[...nextauth]/route.ts",
      lines: `import { handlers } from "../../../../auth";

export const { GET, POST } = handlers;`,
    },
  ],
};

export const authjs: Stack = {
  ...withAuthjs,
  title: "Auth.js",
  redirects: ["/auth/callback/signet"],
  setup: (values) => [
    authEnvironment(values),
    {
      file: "auth.config.ts",
      lines: `export const authConfig = {
  trustHost: true,
  secret: process.env.AUTH_SECRET,
  providers: [
    ${provider(values, "process.env")},
  ],
};`,
    },
  ],
};

/** express-openid-connect. The client SDK of Signet is the other way, see the quickstart of a web application. */
export const express: Stack = {
  title: "Express (express-openid-connect)",
  clientType: "confidential",
  address: "http://localhost:3000",
  redirects: ["/callback"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email"],
  auth: "client_secret_basic",
  settings: claimsInIdToken,
  setup: ({ issuer, clientId, clientSecret, address, redirectUri, postLogoutRedirectUri, scope }) => [
    {
      file: "app.mjs",
      lines: `import express from "express";
import { auth } from "express-openid-connect";

const app = express();
app.use(
  auth({
    issuerBaseURL: "${issuer}",
    baseURL: "${address}",
    clientID: "${clientId}",
    clientSecret: "${clientSecret}",
    clientAuthMethod: "client_secret_basic",
    idTokenSigningAlg: "ES256",
    authorizationParams: { response_type: "code", scope: "${scope}" },
    idpLogout: true,
    routes: { callback: "${new URL(redirectUri).pathname}", postLogoutRedirect: "${postLogoutRedirectUri}" },
    secret: "${randomSecret("")}",
  }),
);
app.get("/", (request, response) => response.json(request.oidc.user));
app.listen(${new URL(address).port || 3000});`,
    },
  ],
};

/** oidc-client-ts takes the user from the ID token and renews it with a refresh token. */
const withOidcClient = {
  clientType: "spa",
  address: "http://localhost:5173",
  redirects: ["/"],
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email", "offline_access"],
  settings: claimsInIdToken,
} as const satisfies Partial<Stack>;

const oidcClient = ({
  issuer,
  clientId,
  redirectUri,
  postLogoutRedirectUri,
  scope,
}: StackValues): string => `{
  authority: "${issuer}",
  client_id: "${clientId}",
  redirect_uri: "${redirectUri}",
  post_logout_redirect_uri: "${postLogoutRedirectUri}",
  scope: "${scope}",
}`;

export const react: Stack = {
  ...withOidcClient,
  title: "React (react-oidc-context)",
  setup: (values) => [
    {
      file: "main.tsx",
      lines: `import { createRoot } from "react-dom/client";
import { AuthProvider } from "react-oidc-context";
import { App } from "./App";

const settings = ${oidcClient(values)};
const onSigninCallback = () => window.history.replaceState({}, "", window.location.pathname);

createRoot(document.getElementById("root")!).render(
  <AuthProvider {...settings} onSigninCallback={onSigninCallback}>
    <App />
  </AuthProvider>,
);`,
    },
  ],
};

export const vue: Stack = {
  ...withOidcClient,
  title: "Vue (oidc-client-ts)",
  setup: (values) => [
    {
      file: "auth.ts",
      lines: `import { UserManager } from "oidc-client-ts";

export const userManager = new UserManager(${oidcClient(values)});`,
    },
  ],
};

/** It refuses a refreshed ID token that has the nonce of the first one (OpenID Connect Core §12.2 permits that), unless told otherwise. */
export const angular: Stack = {
  ...withOidcClient,
  title: "Angular (angular-auth-oidc-client)",
  address: "http://localhost:4200",
  setup: ({ issuer, clientId, redirectUri, postLogoutRedirectUri, scope }) => [
    {
      file: "app.config.ts",
      lines: `import { provideAuth } from "angular-auth-oidc-client";

export const appConfig = {
  providers: [
    provideAuth({
      config: {
        authority: "${issuer}",
        clientId: "${clientId}",
        redirectUrl: "${redirectUri}",
        postLogoutRedirectUri: "${postLogoutRedirectUri}",
        scope: "${scope}",
        responseType: "code",
        silentRenew: true,
        useRefreshToken: true,
        ignoreNonceAfterRefresh: true,
      },
    }),
  ],
};`,
    },
  ],
};
