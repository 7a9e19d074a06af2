/** Products that sign people in through Signet. */
import { claimsInIdToken, rs256, type Stack } from "./stack.ts";

const web = {
  clientType: "confidential",
  postLogoutRedirects: ["/"],
  scopes: ["openid", "profile", "email", "groups"],
  auth: "client_secret_basic",
} as const satisfies Partial<Stack>;

/** generic_oauth: no nonce, PKCE when told to. Roles come from the groups in the ID token. */
export const grafana: Stack = {
  ...web,
  title: "Grafana",
  address: "http://localhost:3000",
  redirects: ["/login/generic_oauth"],
  postLogoutRedirects: ["/login"],
  scopes: ["openid", "profile", "email", "offline_access", "groups"],
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, address, postLogoutRedirectUri, scope }) => [
    {
      file: "grafana.ini",
      lines: `[server]
root_url = ${address}/

[auth]
signout_redirect_url = ${issuer}/end_session?client_id=${clientId}&post_logout_redirect_uri=${encodeURIComponent(postLogoutRedirectUri)}

[auth.generic_oauth]
enabled = true
name = Signet
client_id = ${clientId}
client_secret = ${clientSecret}
scopes = ${scope}
auth_url = ${issuer}/authorize
token_url = ${issuer}/token
api_url = ${issuer}/userinfo
use_pkce = true
use_refresh_token = true
allow_sign_up = true
login_attribute_path = preferred_username
name_attribute_path = name
email_attribute_path = email
groups_attribute_path = groups
role_attribute_path = contains(groups[*], 'grafana-admins') && 'Admin' || contains(groups[*], 'grafana-editors') && 'Editor' || 'Viewer'`,
    },
  ],
};

/** Sends a nonce always, PKCE when told to; groups come from userinfo. */
export const gitlab: Stack = {
  ...web,
  title: "GitLab",
  address: "https://gitlab.example.com",
  redirects: ["/users/auth/openid_connect/callback"],
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "/etc/gitlab/gitlab.rb",
      lines: `gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "Signet",
    args: {
      name: "openid_connect",
      scope: [${scope
        .split(" ")
        .map((one) => `"${one}"`)
        .join(", ")}],
      response_type: "code",
      issuer: "${issuer}",
      discovery: true,
      client_auth_method: "basic",
      uid_field: "sub",
      pkce: true,
      client_options: {
        identifier: "${clientId}",
        secret: "${clientSecret}",
        redirect_uri: "${redirectUri}",
        gitlab: { groups_attribute: "groups" }
      }
    }
  }
]`,
    },
  ],
};

/** Its command line signs in on a loopback address of its own. */
export const argocd: Stack = {
  ...web,
  title: "Argo CD",
  address: "https://argocd.example.com",
  redirects: ["/auth/callback"],
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, address, scope }) => [
    {
      file: "ConfigMap argocd-cm",
      lines: `data:
  url: ${address}
  oidc.config: |
    name: Signet
    issuer: ${issuer}
    clientID: ${clientId}
    clientSecret: $oidc.signet.clientSecret
    enablePKCEAuthentication: true
    requestedScopes: ${JSON.stringify(scope.split(" "))}`,
    },
    { file: "Secret argocd-secret", lines: `stringData:\n  oidc.signet.clientSecret: ${clientSecret}` },
    {
      file: "ConfigMap argocd-rbac-cm",
      lines: `data:
  scopes: "[groups]"
  policy.csv: |
    g, argocd-admins, role:admin`,
    },
  ],
};

/** kubectl signs in by kubelogin on a loopback port. The API server verifies the ID token: RS256, with email and groups in it. */
export const kubernetes: Stack = {
  title: "Kubernetes (kubelogin)",
  clientType: "native",
  address: "http://localhost:8000",
  redirects: ["http://localhost:8000", "http://127.0.0.1:8000"],
  scopes: ["openid", "profile", "email", "offline_access", "groups"],
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, scope }) => [
    {
      file: "Flags of kube-apiserver",
      lines: `--oidc-issuer-url=${issuer}
--oidc-client-id=${clientId}
--oidc-username-claim=email
--oidc-groups-claim=groups
--oidc-signing-algs=RS256`,
    },
    {
      file: "AuthenticationConfiguration, in place of the flags",
      lines: `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
  - issuer:
      url: ${issuer}
      audiences: ["${clientId}"]
    claimMappings:
      username: { claim: email, prefix: "" }
      groups: { claim: groups, prefix: "" }`,
    },
    {
      file: "kubeconfig",
      lines: `users:
  - name: signet
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1
        command: kubectl
        interactiveMode: IfAvailable
        args:
          - oidc-login
          - get-token
          - --oidc-issuer-url=${issuer}
          - --oidc-client-id=${clientId}
${scope
  .split(" ")
  .filter((one) => one !== "openid")
  .map((one) => `          - --oidc-extra-scope=${one}`)
  .join("\n")}`,
    },
  ],
};

/** Signet as an upstream of dex. It has PKCE from 2.42, no nonce, and takes groups only when told to. */
export const dex: Stack = {
  ...web,
  title: "dex (OIDC connector)",
  address: "http://127.0.0.1:5556",
  redirects: ["/dex/callback"],
  settings: { ...rs256, ...claimsInIdToken },
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => [
    {
      file: "dex.yaml",
      lines: `connectors:
  - type: oidc
    id: signet
    name: Signet
    config:
      issuer: ${issuer}
      clientID: ${clientId}
      clientSecret: ${clientSecret}
      redirectURI: ${redirectUri}
      pkceChallenge: S256
      getUserInfo: true
      insecureEnableGroups: true
      scopes: [${scope
        .split(" ")
        .filter((one) => one !== "openid")
        .join(", ")}]`,
    },
  ],
};

/** Signet as an identity provider of Keycloak. */
export const keycloak: Stack = {
  ...web,
  title: "Keycloak (identity provider)",
  address: "http://localhost:8080",
  redirects: ["/realms/master/broker/signet/endpoint"],
  postLogoutRedirects: ["/realms/master/broker/signet/endpoint/logout_response"],
  auth: "client_secret_post",
  settings: claimsInIdToken,
  setup: ({ issuer, clientId, clientSecret, redirectUri, scope }) => {
    const realm = /\/realms\/([^/]+)\//.exec(redirectUri)?.[1] ?? "master";
    const config = {
      issuer,
      clientId,
      clientSecret,
      clientAuthMethod: "client_secret_post",
      authorizationUrl: `${issuer}/authorize`,
      tokenUrl: `${issuer}/token`,
      userInfoUrl: `${issuer}/userinfo`,
      logoutUrl: `${issuer}/end_session`,
      jwksUrl: `${issuer}/.well-known/jwks.json`,
      useJwksUrl: "true",
      validateSignature: "true",
      pkceEnabled: "true",
      pkceMethod: "S256",
      defaultScope: scope,
      syncMode: "FORCE",
    };
    const provider = { alias: "signet", displayName: "Signet", providerId: "oidc", enabled: true, config };
    return [
      { file: "signet.json", lines: JSON.stringify(provider, null, 2) },
      { file: "Shell", lines: `kcadm.sh create identity-provider/instances -r '${realm}' -f signet.json` },
    ];
  },
};
