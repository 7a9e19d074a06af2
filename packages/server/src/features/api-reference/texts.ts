/** The words of the API's description. English, like the names in it. */

export const summary =
  "OAuth 2.0 and OpenID Connect for many organisations, with one issuer each, and the JSON interfaces that programs look after them with. Times in JSON are RFC 3339 in UTC, those of OAuth seconds since 1970. Lists are paged: `nextCursor` of one page is `cursor` of the next. An answer may have more members one day: ignore those that you do not know.";

export const tags = [
  {
    name: "OAuth",
    description:
      "The endpoints of an organisation's issuer. Client libraries need the issuer's address only and find these by themselves.",
  },
  {
    name: "Clients",
    description:
      "Management API: OAuth clients (applications), their secrets and the users that are assigned to them. Secrets are told once, by the answer that makes them.",
  },
  {
    name: "Scopes",
    description: "Management API: scopes of the organisation's own, and the claims they add.",
  },
  {
    name: "Consents",
    description:
      "Management API: what users, or the organisation for all of them, have allowed applications.",
  },
  {
    name: "Pre-authorizations",
    description: "Management API: applications that users are not asked about.",
  },
  {
    name: "System accounts",
    description:
      "Management API: the programs that call these interfaces, their keys, and the applications that they may act for. Secret keys are told once, by the answer that makes them. Every change is signed in the strict form.",
  },
  {
    name: "Authentication",
    description:
      "Signing users in and out by session key, registration, and the links of mails. For applications that do not use OAuth.",
  },
  { name: "Session keys", description: "Checking session keys and exchanging them for others." },
  { name: "Users", description: "Members of the organisation." },
  {
    name: "Sovereign signing",
    description:
      "Pools of agents of the organisation that hold the keys which sign its tokens. Errors have the form of OAuth.",
  },
  {
    name: "Device identity",
    description:
      "Certificates for the organisation's devices, by its own certificate authority, and the codes that let devices in. Errors have the form of OAuth.",
  },
  { name: "Organisations", description: "Applications that the caller can reach." },
  { name: "Service", description: "What this server says about itself." },
];

export const hmac =
  "A system account has a public key (a UUID) and a secret key, the whole text that begins with `sgn_sa_`. Each call carries `Authorization: PUBLIC_KEY:SIGNATURE`. The signature is the Base64 encoding of HMAC-SHA256, with the secret key, over the bytes of the body as they are sent; without a body, over nothing.";

export const strictForm =
  "That form can be sent again by whoever sees it. The strict form cannot: with the headers `X-Signet-Timestamp` (seconds since 1970, at most 300 off) and `X-Signet-Nonce` (1 to 128 characters, used once) the signature covers the method, the path with its query, the time and the nonce, each followed by a line feed, and then the body. A system account can be set to accept nothing else.";

export const securitySchemes = {
  systemAccount: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: `HMAC signature of a system account. ${hmac} ${strictForm} The call is about the application in its path, else \`ApplicationId\` of its body, else the account's own; the account needs permission on it.`,
  },
  administratorAccount: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "The same signature, of an administrator's system account.",
  },
  sessionKey: {
    type: "apiKey",
    in: "query",
    name: "key",
    description:
      "A session key, which begins with `sgn_sk_`. It stands in the path as `{key}`, in the query as `key`, or in the body as `Key`.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "An access token of this issuer with the scope openid (RFC 6750).",
  },
  agentKey: {
    type: "http",
    scheme: "bearer",
    description: "The API key of a signing agent, which begins with `sgn_ak_` and is shown at registration.",
  },
  deviceCertificate: {
    type: "mutualTLS",
    description:
      "The certificate of a device, with the proof of its key by TLS: at the address for certificates (`mtls_endpoint_aliases` of discovery), where that is another one.",
  },
  browserSession: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-signet-{org}",
    description: "The cookie of the browser that began the request; only our own pages use it.",
  },
  clientSecretBasic: {
    type: "http",
    scheme: "basic",
    description:
      "Client authentication, `client_secret_basic`: client_id and client_secret, each form-encoded (RFC 6749 §2.3.1). Instead, the form may have `client_id` and `client_secret` (`client_secret_post`) or a JWT in `client_assertion` (`private_key_jwt`); public clients send `client_id` alone, and so do the devices of a client of `tls_client_auth`, with their certificate.",
  },
} as const;

export const errorsText =
  "Errors of the JSON interfaces are `application/problem+json` (RFC 9457). The last part of `type` is a stable code; `errors` names the members that are wrong. OAuth endpoints answer errors with `error` and `error_description` (RFC 6749 §5.2), and an unknown organisation with a problem document. What belongs to another organisation is 404, as if it were not there.";
