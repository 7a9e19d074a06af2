/** Middleware, `auth()` and the components, with stand-ins for what of Next.js they import. `npm run interop` has the real one. */
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { after, before, describe, test } from "node:test";
import { createTestIssuer, type TestIssuer } from "@signet/testing";
import { renderToString } from "react-dom/server";

const URL_OF_APP = "http://localhost:3999";
const NAVIGATION = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

/** What the page of a request sees. */
let rendered = "";
const stubs: Readonly<Record<string, string>> = {
  "next/headers": "export const cookies = async () => globalThis[Symbol.for('test-cookies')]();",
  "next/navigation": "export const redirect = (url) => { throw new Error('redirect ' + url); };",
  "next/server": `export const NextResponse = { next: ({ request }) =>
    new Response(null, { headers: { "x-rendered-with": request.headers.get("cookie") } }) };`,
};
const hooks = registerHooks({
  resolve: (specifier, context, next) => {
    const stub = stubs[specifier];
    if (stub === undefined) return next(specifier, context);
    return { url: `data:text/javascript,${encodeURIComponent(stub)}`, shortCircuit: true };
  },
});
const cookieStore = {
  getAll: () =>
    rendered
      .split("; ")
      .filter((pair) => pair !== "")
      .map((pair) => ({ name: pair.slice(0, pair.indexOf("=")), value: pair.slice(pair.indexOf("=") + 1) })),
};
Object.assign(globalThis, { [Symbol.for("test-cookies")]: () => cookieStore });

const { signetMiddleware, withChanges } = await import("./middleware.ts");
const { auth, requireAuth, OrganisationSwitcher, SignedIn, SignedOut, UserButton } = await import(
  "./index.ts"
);
const { getAuth } = await import("./pages.ts");
const { GET } = await import("./route.ts");

let issuer: TestIssuer;
const variables = new Map<string, string>();
let movedMs = 0;
const { now } = Date;

before(async () => {
  // Of this process, before anything takes it.
  Date.now = () => now() + movedMs;
  issuer = await createTestIssuer({
    users: [{ email: "ada@acme.example", firstname: "Ada", surname: "Lovelace", role: "Administrator" }],
    applications: [{ name: "Next", url: URL_OF_APP, accessTokenLifetimeSeconds: 60 }],
    clock: () => Date.now(),
  });
  const secrets = { SIGNET_COOKIE_SECRETS: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" };
  for (const [name, value] of Object.entries({ ...issuer.environmentOf("next"), ...secrets })) {
    variables.set(name, process.env[name] ?? "");
    process.env[name] = value;
  }
});
after(async () => {
  Date.now = now;
  for (const name of variables.keys()) delete process.env[name];
  Reflect.deleteProperty(globalThis, Symbol.for("@signet/nextjs"));
  Reflect.deleteProperty(globalThis, Symbol.for("test-cookies"));
  hooks.deregister();
  await issuer.stop();
});

const middleware = signetMiddleware({ publicPaths: ["/", "/docs/*"] });

/** A browser of the application, as far as cookies go. */
function visitor() {
  let cookie = "";
  const go = async (path: string, headers: Readonly<Record<string, string>> = NAVIGATION, method = "GET") => {
    const response = await middleware(
      new Request(`http://internal:3000${path}`, { method, headers: { ...headers, cookie } }),
    );
    cookie = withChanges(cookie, response.headers.getSetCookie());
    rendered = response.headers.get("x-rendered-with") ?? "";
    return response;
  };
  const signIn = async () => {
    const { headers } = await go("/orders?page=2");
    // A session at the issuer, so that it asks nothing.
    let session = "";
    const page = {
      context: () => ({
        addCookies: async ([one]: readonly { name: string; value: string }[]) => {
          session = `${one?.name}=${one?.value}`;
        },
        cookies: async () => [],
      }),
      goto: async () => {},
      url: () => "",
    };
    await issuer.signInAs(page, "ada@acme.example");
    const answer = await fetch(headers.get("location") ?? "", {
      redirect: "manual",
      headers: { cookie: session },
    });
    const back = new URL(answer.headers.get("location") ?? "");
    return go(`${back.pathname}${back.search}`);
  };
  return { go, signIn, cookie: () => cookie };
}

describe("the middleware", () => {
  test("sends a page to sign in and back, and lets public paths through", async () => {
    const { go, signIn, cookie } = visitor();
    assert.equal((await go("/docs/a")).headers.get("location"), null);
    assert.equal((await auth()).isSignedIn, false);
    assert.equal((await go("/docsx")).status, 302);
    const back = await signIn();
    assert.equal(back.headers.get("location"), `${URL_OF_APP}/orders?page=2`);
    const page = await go("/orders?page=2");
    assert.equal(page.headers.get("cache-control"), "private, no-store");
    const { user, sub, hasRole, accessToken, organisationId } = await auth();
    assert.deepEqual([user?.email, sub], ["ada@acme.example", issuer.user("ada@acme.example").id]);
    assert.deepEqual(
      [hasRole("king"), typeof accessToken, organisationId],
      [false, "string", issuer.organisationId],
    );
    assert.equal((await getAuth({ headers: { cookie: cookie() } })).user?.firstname, "Ada");
    assert.equal((await getAuth({ headers: {} })).isSignedIn, false);
  });

  test("answers a script with 401 and where to sign in", async () => {
    const response = await visitor().go("/orders", { "sec-fetch-mode": "cors" });
    assert.equal(response.status, 401);
    assert.equal(((await response.json()) as { login_url: string }).login_url, `${URL_OF_APP}/signet/login`);
  });

  test("renews a session that is due once for requests at the same time, and what is rendered sees it", async (t) => {
    const { go, signIn } = visitor();
    await signIn();
    await go("/");
    const before = (await auth()).accessToken;
    const real = globalThis.fetch;
    let renewals = 0;
    t.mock.method(globalThis, "fetch", (...call: Parameters<typeof fetch>) => {
      if (String(call[0]).endsWith("/token")) renewals++;
      return real(...call);
    });
    movedMs = 55_000;
    await Promise.all([go("/"), go("/"), go("/docs/x")]);
    assert.equal(renewals, 1);
    const renewed = (await auth()).accessToken;
    assert.notEqual(renewed, before);
    t.mock.restoreAll();
    movedMs = 0;
  });

  test("signs out here and at the issuer", async () => {
    const { go, signIn } = visitor();
    await signIn();
    const out = await go("/signet/logout", { ...NAVIGATION, "sec-fetch-site": "same-origin" }, "POST");
    assert.match(out.headers.get("location") ?? "", /\/end_session\?/);
    await go("/");
    assert.equal((await auth()).isSignedIn, false);
  });
});

test("requireAuth redirects who is not signed in, to come back", async () => {
  rendered = "";
  await assert.rejects(requireAuth("/orders"), /redirect \/signet\/login\?return_to=%2Forders/);
});

test("the components show what is for this person", async () => {
  const { go, signIn } = visitor();
  const shown = async () =>
    renderToString([await SignedIn({ children: "in" }), await SignedOut({ children: "out" })]);
  rendered = "";
  assert.equal(await shown(), "out");
  assert.equal(renderToString(await UserButton({})), '<a href="/signet/login?return_to=%2F">Sign in</a>');
  assert.equal(await OrganisationSwitcher({ organisations: [] }), null);
  await signIn();
  await go("/");
  assert.equal(await shown(), "in");
  const menu = renderToString(await UserButton({ texts: { signOut: "Log af" } }));
  for (const part of [
    "Ada Lovelace",
    "ada@acme.example",
    `${issuer.issuer}/account`,
    'action="/signet/logout"',
    "Log af",
  ])
    assert.ok(menu.includes(part), menu);
  const organisations = [
    { id: issuer.organisationId, name: "Acme", url: "/acme" },
    { id: "other", name: "Other", url: "https://other.example/" },
    { id: "third", name: "Third" },
  ];
  const switcher = renderToString(await OrganisationSwitcher({ organisations }));
  assert.match(
    switcher,
    /<summary>Acme<\/summary><ul><li><a href="https:\/\/other\.example\/">Other<\/a><\/li><li><a href="\/signet\/login\?return_to=%2F&amp;organisation=third">Third<\/a><\/li><\/ul>/,
  );
});

test("the route handler serves the routes where no middleware does, and nothing else", async () => {
  const login = await GET(new Request("http://internal/signet/login", { headers: NAVIGATION }));
  assert.equal(login.status, 302);
  assert.equal((await GET(new Request("http://internal/signet/other", { headers: NAVIGATION }))).status, 404);
});
