/**
 * Ordinary and hostile requests down both ways: before the framework's router, and through it. Whoever sends them must not be able
 * to tell which it was, and neither must the log.
 */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { hmacSignature } from "@signet/protocol/hmac-signature";
import type { FastifyRequest } from "fastify";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { makeSystemAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../testing/test-service.ts";

const FORM = "Content-Type: application/x-www-form-urlencoded";

/** The bytes of one request. @param target as it is sent */
const raw = (method: string, target: string, headers: readonly string[], body: string | Buffer = "") =>
  Buffer.concat([
    Buffer.from(`${[`${method} ${target} HTTP/1.1`, "Host: a", ...headers].join("\r\n")}\r\n\r\n`, "latin1"),
    Buffer.from(body),
  ]);

const post = (target: string, body: string | Buffer, headers: readonly string[] = [FORM]) =>
  raw("POST", target, [...headers, `Content-Length: ${Buffer.byteLength(body)}`], body);

/** What the corpus is made of. */
interface Known {
  readonly org: string;
  /** A form that gets a token. */
  readonly good: string;
  readonly basic: string;
  readonly job: string;
  readonly user: string;
  readonly client: string;
  /** Lines of a header and ids, for reads of the APIs. */
  readonly reader: string;
  readonly signed: string;
  readonly person: string;
  readonly app: string;
  /** The entity tag of the person, and of the client. */
  readonly tags: readonly [person: string, app: string];
}

/** Reads of the JSON APIs, as they are answered past the framework. */
const reads = ({ org, reader, signed, person, app, user, tags: [personTag, appTag] }: Known): Buffer[] => {
  const one = `/api/v1/organisations/${org}/users/${person}`;
  const client = `/legacy/api/oauth/clients/${app}`;
  const other = (id: string) => id.replace(/^./, (first) => (first === "0" ? "1" : "0"));
  return [
    raw("GET", one, [reader]),
    raw("GET", one, [reader, `If-None-Match: ${personTag}`]),
    raw("GET", one, [reader, `If-None-Match: W/${personTag}`, "User-Agent: x"]),
    raw("GET", one, [reader, 'If-None-Match: "other"', "X-Forwarded-For: 192.0.2.1"]),
    raw("GET", one.replace(person, other(person)), [reader]),
    raw("GET", one.replace(org, other(org)), [reader]),
    raw("GET", one, []),
    raw("GET", one, [`Authorization: Bearer ${user}`]),
    raw("GET", one, ["Authorization: Bearer x"]),
    raw("GET", one, [signed]),
    raw("GET", client, [signed]),
    raw("GET", client, [signed, `If-None-Match: ${appTag}`]),
    raw("GET", client.replace(app, other(app)), [signed]),
    raw("GET", client, []),
    raw("GET", client, [reader]),
    raw("GET", client, [signed.replace(/.=$/, "=")]),
    raw("GET", client, [signed.replace(/: ./, ": g")]),
    raw("GET", client, [signed, "X-Signet-Timestamp: 1", "X-Signet-Nonce: a"]),
    raw("GET", client, [signed, "X-Signet-Nonce: a"]),
  ];
};

/** The same addresses, as the framework alone answers them. */
const oddReads = ({ org, reader, signed, person, app }: Known): Buffer[] => {
  const one = `/api/v1/organisations/${org}/users/${person}`;
  const client = `/legacy/api/oauth/clients/${app}`;
  return [
    ...["?", "?a=1", "/", "%20", "#a", ";a"].flatMap((end) => [
      raw("GET", `${one}${end}`, [reader]),
      raw("GET", `${client}${end}`, [signed]),
    ]),
    ...["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].map((method) => raw(method, one, [reader])),
    ...["HEAD", "POST", "OPTIONS", "PATCH"].map((method) => raw(method, client, [signed])),
    raw("GET", one.replace(person, ":"), [reader]),
    raw("GET", one.replace(org, ":").replace(person, ":"), [reader]),
    raw("GET", client.replace(app, ":"), [signed]),
    raw("GET", one.replace(person, person.toUpperCase()), [reader]),
    raw("GET", client.replace(app, app.toUpperCase()), [signed]),
    raw("GET", client.replace(app, `${app}%00`), [signed]),
    raw("GET", client.replace(app, `${app}/${app}`), [signed]),
    raw("GET", client.replace("/legacy", `/legacy/${app}`), [signed]),
    raw("GET", one, [reader, "Origin: https://app.example"]),
    raw("GET", client, [signed, "Origin: null"]),
    raw("GET", one, [reader, "Content-Length: 0"]),
    raw("GET", client, [signed, "Content-Type: application/json", "Content-Length: 2"], "{}"),
    raw("GET", client, [signed, "Content-Type: text/plain", "Content-Length: 2"], "{}"),
    raw("GET", client, [signed, "Transfer-Encoding: chunked"], "0\r\n\r\n"),
  ];
};

const ordinary = ({ org, good, basic, job, user, client }: Known): Buffer[] => {
  const at = `/oauth/${org}`;
  const bearer = `Authorization: Bearer ${user}`;
  return [
    post(`${at}/token`, good),
    post(`${at}/token`, good, [`${FORM}; charset=UTF-8`, "X-Forwarded-For: 192.0.2.1", "User-Agent: x"]),
    post(`${at}/token`, "grant_type=client_credentials", [FORM, basic]),
    post(`${at}/token`, `${good}&scope=unknown`),
    post(`${at}/token`, good.replace("client_credentials", "password")),
    post(`${at}/token`, `${good}x`),
    post(`${at}/token`, "grant_type=client_credentials"),
    post(`${at}/token`, "a=1"),
    post(`/oauth/${org.replace(/^./, (first) => (first === "0" ? "1" : "0"))}/token`, good),
    post(`${at}/introspect`, `${client}&token=${job}`),
    post(`${at}/introspect`, `${client}&token=nothing`),
    post(`${at}/introspect`, `${client}`),
    post(`${at}/introspect`, `token=${job}`, [FORM, basic]),
    raw("GET", `${at}/userinfo`, [bearer]),
    raw("GET", `${at}/userinfo`, []),
    raw("GET", `${at}/userinfo`, ["Authorization: Bearer x"]),
    raw("GET", `${at}/userinfo`, [`Authorization: Bearer ${job}`]),
    post(`${at}/userinfo`, `access_token=${user}`),
    post(`${at}/userinfo`, `access_token=${user}`, [FORM, bearer]),
    post(`${at}/userinfo`, "a=1", [FORM, bearer]),
  ];
};

const bodies = ({ good, client }: Known): readonly (string | Buffer)[] => [
  ...["&", "=", "&&&=&", "%", "%zz", "a=%ff", "a=%00", "a=\0", "a=\uFFFD", "grant_type", "grant_type="],
  ...[`${good}&grant_type=x`, `${good}&client_id=x`, `${good}&resource=a&resource=b`, `\uFEFF${good}`],
  ...[`${good}&${"a=1&".repeat(120)}`, `${good}&a=${"b".repeat(60_000)}`, `${good}&client_assertion=a.b.c`],
  ...[
    `${good}&client_assertion_type=a&client_assertion=b`,
    `${client}&token=a&token=b`,
    "{}",
    good.replaceAll("=", "%3D"),
  ],
  ...[
    Buffer.from([0x61, 0x3d, 0xff, 0xfe]),
    Buffer.from([0x61, 0x3d, 0xc3]),
    "\u00e6=\u00e6&grant_type=\u{1f600}",
  ],
];

const odd = (known: Known): Buffer[] => {
  const { org, good, user, basic } = known;
  const at = `/oauth/${org}`;
  const bearer = `Authorization: Bearer ${user}`;
  const spellings = [
    "/token?",
    "/token?a=1",
    "/token/",
    "//token",
    "/token%20",
    "/%74oken",
    "/token#a",
    "/token;a",
    "/Token",
  ];
  const types = [
    "",
    "application/json",
    "text/plain",
    "multipart/form-data; boundary=a",
    "Application/X-WWW-Form-Urlencoded",
  ];
  types.push("application/x-www-form-urlencoded;", "application/x-www-form-urlencoded; charset=latin1");
  types.push(
    "application/x-www-form-urlencoded, text/plain",
    "a",
    "application/x-www-form-urlencodedx",
    "/",
    ";",
  );
  return [
    ...spellings.map((spelling) => post(`${at}${spelling}`, good)),
    ...types.map((type) => post(`${at}/token`, good, type === "" ? [] : [`Content-Type: ${type}`])),
    ...bodies(known).flatMap((body) =>
      ["token", "introspect", "userinfo"].map((end) => post(`${at}/${end}`, body)),
    ),
    ...["https://app.example", "https://other.example", "null", ""].map((origin) =>
      post(`${at}/token`, good, [FORM, `Origin: ${origin}`]),
    ),
    ...["HEAD", "PUT", "OPTIONS", "GET", "DELETE", "PATCH", "TRACE"].map((method) =>
      raw(method, `${at}/token`, []),
    ),
    ...["POST", "HEAD", "PUT"].map((method) => raw(method, `${at}/userinfo`, [bearer])),
    post(`/oauth/${org.toUpperCase()}/token`, good),
    post(`http://a${at}/token`, good),
    post("/oauth/x/token", good),
    post(`/oauth/${org}x/token`, good),
    post(`/oauth/${org.slice(0, -1)}%00/token`, good),
    post(`/oauth/${org.slice(0, -1)}\u00e6/token`, good),
    post(`/OAuth/${org}/token`, good),
    raw("POST", `${at}/token`, [FORM]),
    raw("POST", `${at}/token`, [FORM, "Content-Length: 0"]),
    raw("POST", `${at}/token`, [FORM, "Content-Length: 70000"]),
    raw("POST", `${at}/token`, [FORM, "Content-Length: 1e3"]),
    raw(
      "POST",
      `${at}/token`,
      [FORM, "Transfer-Encoding: chunked"],
      `${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`,
    ),
    raw("POST", `${at}/token`, [FORM, "Transfer-Encoding: chunked", "Content-Length: 5"], "0\r\n\r\n"),
    post(`${at}/token`, good, [FORM, FORM]),
    post(`${at}/token`, good, [FORM, basic]),
    post(`${at}/token`, good, [FORM, "Authorization: Basic"]),
    post(`${at}/token`, good, [FORM, "Authorization: Bearer x", basic]),
    post(`${at}/token`, good, [FORM, "Expect: 100-continue"]),
    post(`${at}/token`, good, [FORM, "Expect: something"]),
    post(`${at}/token`, good, [FORM, "Content-Encoding: gzip"]),
    post(`${at}/token`, good, [FORM, "Client-Cert: :AAAA:", "X-Forwarded-For: a, b,, 10.0.0.1"]),
    raw("GET", `${at}/userinfo?access_token=${user}`, []),
    raw("GET", `${at}/userinfo?`, [bearer]),
    raw("GET", `${at}/userinfo`, [bearer, "Content-Length: 0"]),
    raw("GET", `${at}/userinfo`, [bearer, FORM, "Content-Length: 3"], "a=1"),
    raw("GET", `${at}/userinfo`, [bearer, "Accept: text/html"]),
  ];
};

const LAST = raw("GET", "/healthz", ["Connection: close"]);

/** All that comes back for the request and, unless the service closes before it, for one more on the same connection. */
function send(baseUrl: string, request: Buffer): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname).setEncoding("utf8");
    socket.on("data", (data: string) => {
      text += data;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.write(Buffer.concat([request, LAST]));
  });
}

/** Without what differs between any two answers: times, request numbers, signatures and ids of tokens. */
const stable = (text: string): string =>
  text
    .replace(/^Date: .*\r\n/gim, "")
    .replace(/"instance":"test-\w+"/g, "")
    .replace(/^X-Request-Id: test-\w+\r\n/gim, "X-Request-Id: one\r\n")
    .replace(/"eyJ[\w-]+\.([\w-]+)\.[\w-]+"/g, (_, payload: string) => {
      const { iat, exp, jti, ...claims } = JSON.parse(Buffer.from(payload, "base64url").toString());
      return JSON.stringify({ ...claims, lifetime: exp - iat, jti: typeof jti });
    })
    .split("\r\n\r\n")
    .map((part) => part.replace(/^(ratelimit: .*;r=)\d+;t=\d+/gim, "$1"))
    // The order of headers means nothing.
    .map((part) => (part.startsWith("HTTP/") ? part.toLowerCase().split("\r\n").sort().join("\n") : part))
    .join("\n\n");

forEachDatabase(({ fresh }) => {
  let direct: TestService;
  let framework: TestService;
  let known: Known;
  const env = { TRUSTED_PROXIES: "127.0.0.1" };
  before(async () => {
    const shared = { databaseUrl: await fresh(), env, baseUrl: "https://id.example" };
    direct = await startTestService({ ...shared, isFrameworkAlone: false });
    framework = await startTestService({ ...shared, isFrameworkAlone: true });
    const org = await makeOrganisation(direct.service);
    const at = `${direct.baseUrl}/oauth/${org.organisation.id}`;
    const client = String(new URLSearchParams(credentials(org.batch)));
    const good = `grant_type=client_credentials&${client}`;
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const { client_id, client_secret } = credentials(org.batch);
    const { publicKey, secret } = await makeSystemAccount(direct.service, org, { administrator: true });
    const { accessToken } = await makeApiClient(direct.service, { ...org, issuer: at }, [
      "signet:users:read",
    ]);
    const reader = `Authorization: Bearer ${accessToken}`;
    const signed = `Authorization: ${publicKey}:${hmacSignature(secret, Buffer.alloc(0))}`;
    // One whose secret nobody uses: the record shows when it was used last.
    const app = (await makeClient(direct.service, org.organisation, {})).application.id;
    const person = org.user.id;
    const tagOf = async (path: string, header: string) =>
      /^etag: (.*)\r$/im.exec(await send(direct.baseUrl, raw("GET", path, [header])))?.[1] ??
      assert.fail(path);
    known = {
      ...{ org: org.organisation.id, good, client },
      basic: `Authorization: Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`,
      job: String((await postForm(`${at}/token`, form)).body["access_token"]),
      ...{ reader, signed, person, app },
      tags: [
        await tagOf(`/api/v1/organisations/${org.organisation.id}/users/${person}`, reader),
        await tagOf(`/legacy/api/oauth/clients/${app}`, signed),
      ],
      user: (await codeSource({ ...org, issuer: at }).tokens({ scope: "openid email" })).accessToken,
    };
    // Keys and caches, so that both have the same to do.
    for (const { baseUrl } of [direct, framework])
      for (const one of [...ordinary(known), ...reads(known)]) await send(baseUrl, one);
  });
  after(async () => {
    await direct.close();
    await framework.close();
  });

  /** What the framework's router has handled, of the direct service. */
  const handledByFramework = async (work: () => Promise<void>): Promise<string[]> => {
    const found: string[] = [];
    const note = (message: unknown) => {
      const { request } = message as { request: FastifyRequest };
      if (request.server.server === direct.app.server) found.push(`${request.method} ${request.url}`);
    };
    subscribe("tracing:fastify.request.handler:start", note);
    await work();
    unsubscribe("tracing:fastify.request.handler:start", note);
    return found.filter((one) => one !== "GET /healthz");
  };

  const compare = async (request: Buffer) => {
    const [one, other] = await Promise.all([direct, framework].map(({ baseUrl }) => send(baseUrl, request)));
    assert.notEqual(one, "", request.toString("latin1"));
    assert.equal(stable(one ?? ""), stable(other ?? ""), request.toString("latin1").slice(0, 400));
  };

  test("ordinary requests get the same answer, and the framework has seen none of them", async () => {
    const handled = await handledByFramework(async () => {
      for (const request of [...ordinary(known), ...reads(known)]) await compare(request);
    });
    assert.deepEqual(handled, []);
  });

  test("odd and hostile requests get the same answer", async () => {
    for (const request of [...odd(known), ...oddReads(known)]) await compare(request);
  });

  test("the logs say the same of them", async () => {
    const linesOf = async (service: TestService) =>
      (await service.linesSoFar())
        .filter(({ route }) =>
          /(?:\/token|\/introspect|\/userinfo|\/users\/:id|\/clients\/:clientId)$/.test(route),
        )
        .map(({ method, route, status }) => `${method} ${route} ${status}`);
    const sentBefore = await linesOf(direct);
    const sent = [...ordinary(known), ...reads(known), ...odd(known), ...oddReads(known)];
    const [from, refusedFrom] = [sentBefore.length, direct.refused.length];
    const [from2, refusedFrom2] = [(await linesOf(framework)).length, framework.refused.length];
    for (const request of sent) await compare(request);
    const [one, other] = [(await linesOf(direct)).slice(from), (await linesOf(framework)).slice(from2)];
    assert.ok(one.length > 50);
    assert.deepEqual(one, other);
    const causes = (service: TestService, since: number) =>
      service.refused.slice(since).map(({ error, cause }) => `${error} ${cause}`);
    assert.deepEqual(causes(direct, refusedFrom), causes(framework, refusedFrom2));
  });

  test("a client that hangs up amid its body is no fault of the service, and no sign of a database that is away", async () => {
    for (const service of [direct, framework])
      for (const path of [`/oauth/${known.org}/token`, `/oauth/${known.org}/login`, `/api/v1/users`]) {
        const { hostname, port } = new URL(service.baseUrl);
        const socket = connect(Number(port), hostname).on("error", () => {});
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.write(post(path, known.good).subarray(0, -10), () => setTimeout(() => socket.destroy(), 50));
        await closed;
        await send(service.baseUrl, LAST);
      }
    assert.deepEqual([direct.errors, framework.errors], [[], []]);
  });

  test("references number the requests of both ways in turn, and are those of the log", async () => {
    const notFound = post("/oauth/00000000-0000-4000-8000-000000000000/token", known.good);
    const first = /"instance":"(test-\w+)"/.exec(await send(direct.baseUrl, notFound))?.[1];
    const second = /"instance":"(test-\w+)"/.exec(await send(direct.baseUrl, notFound))?.[1];
    assert.notEqual(first, second);
    const lines = await direct.linesSoFar();
    for (const id of [first, second])
      assert.equal(lines.filter(({ requestId }) => requestId === id).length, 1);
  });
});
