/** An issuer for tests: what is in it, and what a test does with it. */
import { addSession, type PageLike, requireNoSession, requireSignIn, untilItHolds } from "./browser.ts";
import { TestIssuerError } from "./errors.ts";
import {
  defaultUser,
  isTokenApplication,
  type TestApplicationDocument,
  type TestOrganisationDocument,
  type TestRoleDocument,
  type TestUserDocument,
  tokenApplication,
} from "./test-document.ts";
import {
  loadServer,
  type ServerApplication,
  type ServerOrganisation,
  type ServerUser,
  type TestServer,
} from "./test-server.ts";
import { requestTokens, type TestTokens } from "./test-tokens.ts";

/** Options of `createTestIssuer`. Without `organisations`, one is made of the others. */
export interface TestIssuerOptions {
  /** Of the organisation. Default: `Acme`. */
  readonly name?: string;
  /** Default: Ada, an administrator. */
  readonly users?: readonly TestUserDocument[];
  readonly applications?: readonly TestApplicationDocument[];
  readonly groups?: readonly string[];
  readonly roles?: readonly TestRoleDocument[];
  /** Custom scopes, policies, branding: as `signet config apply` takes them. */
  readonly scopes?: readonly object[];
  readonly policies?: object;
  readonly branding?: object;
  /** Several organisations, as `signet.dev.yaml` has them, instead of the above. */
  readonly organisations?: readonly TestOrganisationDocument[];
  /** Default: a free one. */
  readonly port?: number;
  /** Milliseconds since the epoch, for tests of what expires. Default: the machine's. */
  readonly clock?: () => number;
}

/** A user of a test issuer. */
export interface TestUser extends ServerUser {
  readonly organisationId: string;
}

/** Which token: by default an access token of the first user, for the issuer's own audience. */
export interface TokenOptions {
  /** A user, or the email address of one. */
  readonly user?: TestUser | string;
  /** The key or client id of the application that has it. Without `user`: the application's own token, by client credentials. */
  readonly client?: string;
  /** Space-separated, also scopes that nobody has defined. Default: `openid profile email`. */
  readonly scope?: string;
  /** The API that it is for. */
  readonly audience?: string | readonly string[];
  /** Seconds from now; negative: it has expired. */
  readonly expiresIn?: number;
  /** Added to the token, or in place of what is there; undefined removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Default: the first. */
  readonly organisation?: string;
}

/** Options of `expectSignedOut`. */
export interface SignedOutOptions {
  /** How long to wait, in milliseconds; 0: the state as it is. Default: 5000. */
  readonly timeout?: number;
}

/** A real Signet on loopback, in memory. */
export interface TestIssuer extends AsyncDisposable {
  /** The server's own address. */
  readonly baseUrl: string;
  /** Of the first organisation: what applications are configured with. */
  readonly issuer: string;
  readonly organisationId: string;
  readonly organisations: readonly ServerOrganisation[];
  readonly users: readonly TestUser[];
  readonly applications: readonly ServerApplication[];
  /** The user with this email address. @throws TestIssuerError */
  user(email: string): TestUser;
  /** The application with this key, name or client id. @throws TestIssuerError */
  application(key: string): ServerApplication;
  /** Environment variables of `@signet/client-sdk` for an application. */
  environmentOf(key: string): Readonly<Record<string, string>>;
  /** An access token that APIs accept, without a browser. @throws TestIssuerError */
  tokenFor(options?: TokenOptions): Promise<string>;
  /** All tokens of a sign-in, as the token endpoint gave them. @throws TestIssuerError */
  tokensFor(options?: Pick<TokenOptions, "user" | "client" | "scope" | "organisation">): Promise<TestTokens>;
  /** Signs the user in at the issuer, in the browser of a Playwright page; then opens `url`, if there is one. */
  signInAs(page: PageLike, user?: TestUser | string, url?: string): Promise<void>;
  /** Ends every session of the user, as from another machine: applications notice by back-channel logout or at their next refresh. */
  signOutEverywhere(user?: TestUser | string): Promise<void>;
  /**
   * Nobody is signed in at the issuer in this browser, and the page at `url` asks for a sign-in. Waits for it: an application hears of
   * a sign-out elsewhere a moment later, and its page is opened again until then.
   * @throws TestIssuerError naming who still is, when that is so at the end
   */
  expectSignedOut(page: PageLike, url?: string, options?: SignedOutOptions): Promise<void>;
  /** Applies other options to the running server; what stays keeps its ids and secrets. */
  update(options: Omit<TestIssuerOptions, "port" | "clock">): Promise<void>;
  /** Stops the server and forgets everything. */
  stop(): Promise<void>;
}

/** As long as Playwright's own assertions wait. */
const SIGNED_OUT_WITHIN_MS = 5_000;

export async function openTestIssuer(options: TestIssuerOptions): Promise<TestIssuer> {
  const { port, clock = Date.now, ...document } = options;
  const { openTestServer } = await loadServer();
  const server = await openTestServer(documentOf(document), {
    ...(port === undefined ? {} : { port }),
    clock,
  });
  return issuerOf(server, clock);
}

function documentOf({ organisations, name = "Acme", ...only }: Omit<TestIssuerOptions, "port" | "clock">) {
  const wanted = organisations ?? [{ name, users: [defaultUser], ...only }];
  return {
    organisations: wanted.map((one) => ({
      ...one,
      applications: [...(one.applications ?? []), tokenApplication],
    })),
  };
}

function issuerOf(server: TestServer, clock: () => number): TestIssuer {
  const first = () => server.organisations()[0] ?? fail("there is no organisation");
  const usersOf = ({ id, users }: ServerOrganisation) =>
    users.map((user) => ({ ...user, organisationId: id }));
  const users = () => server.organisations().flatMap(usersOf);
  const user = (email: string) =>
    users().find((one) => one.email.toLowerCase() === email.toLowerCase()) ??
    fail(`there is no user ${email}`);
  const userOf = (who: TestUser | string | undefined) =>
    typeof who === "string" ? user(who) : (who ?? users()[0] ?? fail("there is no user"));
  const tokens = (asked: TokenOptions) => tokensOf(server, asked, userOf);
  const personOf = (who: TestUser | string | undefined) => {
    const { id, organisationId } = userOf(who);
    return { orgId: organisationId, userId: id };
  };
  return {
    baseUrl: server.baseUrl,
    get issuer() {
      return first().issuer;
    },
    get organisationId() {
      return first().id;
    },
    get organisations() {
      return server.organisations().map(withoutTokenApplication);
    },
    get users() {
      return users();
    },
    get applications() {
      return server.organisations().flatMap((one) => withoutTokenApplication(one).applications);
    },
    user,
    application: (key) => findApplication(server, key).application,
    environmentOf: (key) => environmentOf(findApplication(server, key)),
    tokenFor: async (asked = {}) => {
      const { organisation, accessToken } = await tokens(asked);
      const claims = claimsOf(asked, Math.floor(clock() / 1000));
      return Object.keys(claims).length === 0
        ? accessToken
        : server.resign(organisation.id, accessToken, claims);
    },
    tokensFor: tokens,
    signInAs: async (page, who, url) => {
      await addSession(server, page, personOf(who));
      if (url !== undefined) await page.goto(url);
    },
    signOutEverywhere: (who) => server.signOutEverywhere(personOf(who)),
    expectSignedOut: (page, url, { timeout = SIGNED_OUT_WITHIN_MS } = {}) =>
      untilItHolds(timeout, async () => {
        await requireNoSession(server, page, server.organisations());
        if (url !== undefined) await requireSignIn(server, page, url);
      }),
    update: (options) => server.apply(documentOf(options)),
    stop: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const fail = (message: string): never => {
  throw new TestIssuerError(message);
};

const withoutTokenApplication = (one: ServerOrganisation): ServerOrganisation => ({
  ...one,
  applications: one.applications.filter((application) => !isTokenApplication(application)),
});

interface Found {
  readonly organisation: ServerOrganisation;
  readonly application: ServerApplication;
}

function findApplication(server: TestServer, wanted: string): Found {
  for (const organisation of server.organisations())
    for (const application of organisation.applications)
      if ([application.key, application.name, application.clientId].includes(wanted))
        return { organisation, application };
  return fail(`there is no application ${wanted}`);
}

async function tokensOf(
  server: TestServer,
  asked: TokenOptions,
  userOf: (who: TestUser | string | undefined) => TestUser,
): Promise<TestTokens & { readonly organisation: ServerOrganisation }> {
  const found = asked.client === undefined ? undefined : findApplication(server, asked.client);
  const isOwn = found !== undefined && asked.user === undefined;
  const user = isOwn ? undefined : userOf(asked.user);
  const orgId = user?.organisationId ?? found?.organisation.id;
  const organisation =
    server.organisations().find(({ id }) => id === orgId) ?? fail("there is no such organisation");
  const application = found?.application ?? organisation.applications.find(isTokenApplication);
  if (!application || (found && found.organisation.id !== organisation.id))
    return fail("the user and the application are of two organisations");
  const scope = isOwn ? undefined : identityScopes(asked.scope);
  return {
    organisation,
    ...(await requestTokens(server, { organisation, application, userId: user?.id, scope })),
  };
}

const identity = [
  "openid",
  "profile",
  "email",
  "phone",
  "address",
  "offline_access",
  "roles",
  "groups",
  "permissions",
];

/** What the issuer itself knows of the scopes that were asked for. The others are written into the token. */
const identityScopes = (scope = "openid profile email"): string =>
  ["openid", ...scope.split(" ").filter((name) => identity.includes(name) && name !== "openid")].join(" ");

function claimsOf(
  { scope, audience, expiresIn, claims = {} }: TokenOptions,
  now: number,
): Record<string, unknown> {
  const times =
    expiresIn === undefined
      ? {}
      : {
          exp: now + expiresIn,
          ...(expiresIn <= 0 ? { iat: now + expiresIn - 60, auth_time: now + expiresIn - 60 } : {}),
        };
  return {
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { aud: audience }),
    ...times,
    ...claims,
  };
}

function environmentOf({ organisation, application }: Found): Record<string, string> {
  const { clientId, clientSecret, url, audience } = application;
  return {
    SIGNET_ISSUER: organisation.issuer,
    SIGNET_CLIENT_ID: clientId,
    ...(clientSecret === undefined ? {} : { SIGNET_CLIENT_SECRET: clientSecret }),
    ...(url === undefined ? {} : { SIGNET_BASE_URL: url }),
    ...(audience === undefined ? {} : { SIGNET_AUDIENCE: audience }),
  };
}
