/** English texts of the API description. */

export const apiDescription =
  "OAuth 2.0 and OpenID Connect for multiple organisations, one issuer each, and the JSON APIs to manage them. JSON timestamps are RFC 3339 in UTC; OAuth timestamps are seconds since the Unix epoch. Lists are paginated: pass `nextCursor` of one page as `cursor` to get the next. Ignore members you don't recognise: future versions may add some.";

export const tags = [
  {
    name: "OAuth",
    description:
      "The endpoints of an organisation's issuer. Client libraries discover them from the issuer URL.",
  },
  {
    name: "Clients",
    description:
      "Management API: OAuth clients (applications), their secrets and assigned users. A secret is returned only once, when it is created.",
  },
  {
    name: "Scopes",
    description: "Management API: custom scopes of the organisation and the claims they add.",
  },

  {
    name: "Client certificate authorities",
    description: "Authorities whose certificates authenticate clients by `tls_client_auth` (RFC 8705).",
  },
  {
    name: "Authorization details",
    description:
      "Management API: types of authorization details (RFC 9396) with their schemas and the words of the consent page.",
  },
  {
    name: "Grants",
    description: "Management API: what users let applications do. Deleting a grant ends its tokens.",
  },
  {
    name: "Token exchange",
    description: "Management API: which client may exchange whose tokens for what (RFC 8693).",
  },
  {
    name: "Trusts",
    description: "Management API: issuers of others whose JWTs the organisation believes.",
  },
  {
    name: "Resources",
    description:
      "Management API: what access tokens are for (RFC 8707, RFC 9728), which scopes belong to it, and what its tokens are like.",
  },
  {
    name: "Unregistered clients",
    description:
      "Management API: clients that nobody registers by hand, by metadata document or dynamic registration.",
  },
  {
    name: "Consents",
    description:
      "Management API: consents that users, or administrators for all users, have granted to applications.",
  },
  {
    name: "Pre-authorizations",
    description: "Management API: scopes that an application gets without asking users for consent.",
  },
  {
    name: "System accounts",
    description:
      "Management API: service accounts that call these APIs, their keys, and the applications they can act for. A secret key is returned only once, when it is created. Every change requires the strict signature form.",
  },
  {
    name: "Authentication",
    description:
      "Sign-in and sign-out with session keys, registration, and email links. For applications that don't use OAuth.",
  },
  { name: "Session keys", description: "Validate and exchange session keys." },
  { name: "Users", description: "Members of the organisation." },
  {
    name: "Sovereign signing",
    description:
      "Pools of agents, run by the organisation, that hold its token signing keys. Errors use the OAuth format.",
  },
  {
    name: "Ledger of signatures",
    description:
      "An append-only log of every token that was signed in an organisation's name, which others verify and witness (C2SP tlog-tiles). By default an organisation has none.",
  },
  {
    name: "Shared signals",
    description:
      "Streams of security events to clients: OpenID Shared Signals Framework 1.0, CAEP and RISC, pushed or polled.",
  },
  {
    name: "Device identity",
    description:
      "Device certificates issued by the organisation's certificate authority, and enrolment codes. Errors use the OAuth format.",
  },
  { name: "Organisations", description: "Applications the caller can access." },
  {
    name: "API v1: users",
    description: "Users and guests of the organisation, their sessions, and what can be done with them.",
  },
  {
    name: "API v1: applications",
    description: "OAuth clients of the organisation, and the users and groups who may use them.",
  },
  {
    name: "API v1: client secrets",
    description: "What confidential applications authenticate with. A secret is shown once, when it is made.",
  },
  {
    name: "API v1: shared applications",
    description: "Applications of other organisations, and the scopes they may have in this one.",
  },
  {
    name: "API v1: groups",
    description: "Groups of users, guests and other groups, and who is in them.",
  },
  {
    name: "API v1: roles",
    description: "Roles and their permissions, who has them, and why somebody may do something.",
  },
  {
    name: "API v1: scopes",
    description: "Custom scopes of the organisation and the claims they add.",
  },
  {
    name: "API v1: authorization details",
    description:
      "Types of authorization details (RFC 9396), and the grants of users with the details that they allowed.",
  },
  {
    name: "API v1: token exchange",
    description: "Which client may exchange whose tokens for what (RFC 8693), as itself or as the user.",
  },
  {
    name: "API v1: ledger",
    description: "The ledger of signatures of the organisation, and who witnesses it.",
  },
  {
    name: "API v1: trusts",
    description:
      "Issuers of others whose JWTs the organisation believes: of workloads, of users, of software.",
  },
  {
    name: "API v1: resources",
    description:
      "What access tokens are for (RFC 8707, RFC 9728), which scopes belong to it, and what its tokens are like.",
  },
  {
    name: "API v1: client certificate authorities",
    description: "Authorities whose certificates authenticate clients by `tls_client_auth` (RFC 8705).",
  },
  {
    name: "API v1: unregistered clients",
    description: "Clients that nobody registers by hand, by metadata document or dynamic registration.",
  },
  {
    name: "API v1: connections",
    description: "Connections to the organisation's own directories, which provision users by SCIM.",
  },
  {
    name: "API v1: invitations",
    description: "People who are asked to come, by email or by a link, and what became of each invitation.",
  },
  {
    name: "API v1: domains",
    description: "Domains of the organisation with their proof by DNS, and break-glass administrators.",
  },
  {
    name: "API v1: portal links",
    description:
      "One-time links with which an organisation's own administrator sets up connections, without an account.",
  },
  {
    name: "API v1: webhooks",
    description:
      "Where events of the organisation are sent, signed (Standard Webhooks), and what became of each.",
  },
  {
    name: "API v1: event streams",
    description: "Streams of security events to receivers of shared signals (SSF 1.0), and their status.",
  },
  {
    name: "API v1: consents",
    description: "Consents of users or for all users, and pre-authorizations of applications.",
  },
  {
    name: "API v1: system accounts",
    description: "Programs that sign their requests, their keys, and the applications they may act for.",
  },
  {
    name: "API v1: devices",
    description: "Devices with their certificates, and the codes that enrol one each.",
  },
  {
    name: "API v1: signing pools",
    description:
      "Pools of agents that hold the keys of the organisation's tokens, the agents, and their keys.",
  },
  {
    name: "API v1: organisation",
    description: "The organisation, the keys that sign its tokens, and its audit log.",
  },
  {
    name: "API v1: operators",
    description:
      "The organisations of the installation, for operators: clients and people of a reserved organisation, whose scopes hold in every organisation.",
  },
  {
    name: "API v1: configuration",
    description: "The organisation's configuration as one file: read, compared, applied.",
  },
  { name: "Service", description: "Health, version and API description." },
];

export const hmacSignature =
  "A system account has a public key (a UUID) and a secret key (the full string, including the prefix `sgn_sa_`). Send `Authorization: PUBLIC_KEY:SIGNATURE` with each request. The signature is the Base64-encoded HMAC-SHA256 of the request body, byte for byte, keyed with the secret key; without a body, of the empty string.";

export const strictForm =
  "The plain form can be replayed. The strict form can't: send `X-Signet-Timestamp` (Unix time in seconds, at most 300 off) and `X-Signet-Nonce` (1 to 128 characters, used once), and sign the method, the path with its query, the timestamp and the nonce, each followed by a line feed, then the body. A system account can be configured to require the strict form.";

export const securitySchemes = {
  systemAccount: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: `HMAC signature of a system account. ${hmacSignature} ${strictForm} The request concerns the application in the path, else \`ApplicationId\` in the body, else the account's own application; the account needs permission for it.`,
  },
  administratorAccount: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "The same signature, by an administrator system account.",
  },
  sessionKey: {
    type: "apiKey",
    in: "query",
    name: "key",
    description:
      "A session key (prefix `sgn_sk_`). Operations with `{key}` in the path or `Key` in the body take it there, as a parameter.",
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "An access token of this issuer with the scope `openid` (RFC 6750).",
  },
  apiToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "An access token of a client's own (client credentials) or of an administrator, with a scope of the API, whose `aud` names `{base_url}/api/v1`. `resource` may ask for it.",
  },
  registrationToken: {
    type: "http",
    scheme: "bearer",
    description:
      "An initial access token of the organisation (prefix `sgn_it_`) to register; then the client's own registration access token (prefix `sgn_ra_`).",
  },
  agentKey: {
    type: "http",
    scheme: "bearer",
    description: "The API key of a signing agent (prefix `sgn_ak_`), returned at registration.",
  },
  deviceCertificate: {
    type: "mutualTLS",
    description:
      "A device certificate, presented in mutual TLS. Use `mtls_endpoint_aliases` of the discovery document if present.",
  },
  browserSession: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-signet-{org}",
    description:
      "The session cookie of the browser that started the request. Used only by Signet's own pages.",
  },
  clientSecretBasic: {
    type: "http",
    scheme: "basic",
    description:
      "Client authentication (`client_secret_basic`): `client_id` and `client_secret`, each form-encoded (RFC 6749 §2.3.1). Alternatively, send `client_id` and `client_secret` (`client_secret_post`) or a JWT in `client_assertion` (`private_key_jwt`). Public clients send `client_id` only, as do clients of `tls_client_auth` and `self_signed_tls_client_auth`, with their certificate.",
  },
} as const;

export const errorsText =
  "The JSON APIs return errors as `application/problem+json` (RFC 9457). The last part of `type` is a stable code; `errors` lists the invalid members. OAuth endpoints return `error` and `error_description` (RFC 6749 §5.2), and a problem document for an unknown organisation. Records of other organisations return 404.";
