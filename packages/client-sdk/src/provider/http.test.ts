import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { named } from "../configuration/properties.ts";
import type { SignetError } from "../errors.ts";
import { createHttp, providerError } from "./http.ts";

const json = { "content-type": "application/json" };

describe("a call of the SDK", () => {
  it("uses https, or http to localhost; outside production any http", async () => {
    const seen: string[] = [];
    const fetch = async (input: unknown) => {
      seen.push(String(input));
      return Response.json({});
    };
    const production = createHttp({ fetch }, { environment: "production" });
    for (const url of [
      "https://id.example/a",
      "http://localhost:1/a",
      "http://127.0.0.1:1/a",
      "http://[::1]:1/a",
    ])
      await production.json(url);
    assert.equal(seen.length, 4);
    for (const url of [
      "http://id.example/a",
      "http://localhost.evil.example/a",
      "http://127.0.0.1.evil.example/a",
      "http://10.0.0.1/a",
      "https://user@id.example/a",
      "ftp://localhost/a",
      "data:application/json,{}",
      "/a",
    ])
      await assert.rejects(production.json(url), { code: "provider_answer" }, url);
    assert.equal(seen.length, 4);
    await createHttp({ fetch }, { environment: "development" }).json("http://id.example/a");
    assert.equal(seen.length, 5);
  });

  it("follows no redirects, so that no secret gets to another host", async () => {
    const paths: string[] = [];
    await served(
      (path) => {
        paths.push(path);
        return { status: 307, headers: { location: "/elsewhere" }, body: "" };
      },
      async (base) => {
        const http = createHttp({}, { environment: "production" });
        await assert.rejects(http.form(`${base}/token`, { secret: "s" }), { code: "provider_answer" });
      },
    );
    assert.deepEqual(paths, ["/token"]);
  });

  it("reads at most 256 KiB, however they are packed or announced", async () => {
    const answers = new Map([
      ["/fits", "x".repeat(256 * 1024 - 2)],
      ["/over", "x".repeat(256 * 1024)],
      ["/far-over", "x".repeat(8 * 1024 * 1024)],
    ]);
    await served(
      (path) => ({ status: 200, headers: json, body: JSON.stringify(answers.get(path)) }),
      async (base) => {
        const http = createHttp({}, { environment: "production" });
        assert.equal((await http.json(`${base}/fits`)).body, answers.get("/fits"));
        for (const path of ["/over", "/far-over"])
          await assert.rejects(http.json(base + path), { code: "provider_answer" });
      },
    );
  });

  it("is aborted by the caller's signal, while reading the body too, even if fetch ignores it", async () => {
    const never = () => new Promise<Response>(() => {});
    const stuckBody = async () =>
      new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)) }));
    for (const fetch of [never, stuckBody]) {
      const caller = new AbortController();
      const call = createHttp({ fetch }, { environment: "production" }).json("https://id.example", {
        signal: caller.signal,
      });
      caller.abort();
      await assert.rejects(call, { code: "provider_unreachable", status: 503 });
    }
  });

  it("never reveals the query in errors, where session keys are, on any platform", async () => {
    const url = "https://id.example/validate?key=sgn_sk_secret";
    const fetch = async () => {
      const cause = Object.assign(new Error(`cannot connect to ${url}`), { path: url });
      throw Object.assign(new TypeError(`error sending request for url (${url})`, { cause }), { path: url });
    };
    await assert.rejects(createHttp({ fetch }, { environment: "production" }).json(url), (error: Error) => {
      assert.doesNotMatch(inspect(error), /sgn_sk_secret/);
      assert.match(inspect(error), /cannot connect to https:\/\/id\.example\/validate/);
      return true;
    });
  });

  it("never reveals a part of the URL either", async () => {
    const url = "https://id.example/Keys/sgn_sk_path/validate?key=sgn_sk_query";
    for (const part of ["pathname", "search", "href"] as const) {
      const fetch = async () => {
        throw new TypeError(`refused: ${new URL(url)[part]}`, { cause: new Error(new URL(url)[part]) });
      };
      const http = createHttp({ fetch }, { environment: "production", hidesPaths: true });
      await assert.rejects(http.json(url), (error: Error) => {
        assert.doesNotMatch(inspect(error), /sgn_sk/);
        assert.match(inspect(error), /refused: /);
        return true;
      });
    }
  });

  it("names the URL and the setting in errors, for the log only", async () => {
    const fails = {
      provider_unreachable: async () => {
        throw new TypeError("fetch failed");
      },
      provider_answer: async () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    };
    const setting = named("federationServer");
    for (const [code, fetch] of Object.entries(fails)) {
      const call = createHttp({ fetch }, { environment: "production", setting });
      await assert.rejects(
        call.json("https://id.example/oauth/jwks.json?key=secret"),
        (error: SignetError) => {
          assert.equal(error.code, code);
          assert.match(
            error.message,
            /GET https:\/\/id\.example\/oauth\/jwks\.json\. Check federationServer \(SIGNET_FEDERATION_SERVER\)\.$/,
          );
          assert.doesNotMatch(error.description, /example|SIGNET/);
          assert.doesNotMatch(inspect(error), /secret/);
          return true;
        },
      );
      const hiding = createHttp({ fetch }, { environment: "production", setting, hidesPaths: true });
      await assert.rejects(
        hiding.json("https://id.example/Keys/User/sgn_sk_secret"),
        (error: SignetError) => {
          assert.match(error.message, /GET https:\/\/id\.example\./);
          assert.doesNotMatch(inspect(error), /sgn_sk_secret/);
          return true;
        },
      );
    }
  });

  it("times out after five seconds", async (t) => {
    const limits: number[] = [];
    const own = AbortSignal.timeout;
    t.mock.method(AbortSignal, "timeout", (ms: number) => {
      limits.push(ms);
      return own.call(AbortSignal, 0);
    });
    const fetch = () => new Promise<Response>(() => {});
    await assert.rejects(createHttp({ fetch }, { environment: "production" }).json("https://id.example"), {
      code: "provider_unreachable",
    });
    assert.deepEqual(limits, [5000]);
  });

  it("returns any status with its JSON, and rejects a successful response that isn't JSON", async () => {
    const answer = async (body: string, status: number, type = "application/json") => {
      const fetch = async () => new Response(body || null, { status, headers: { "content-type": type } });
      return createHttp({ fetch }, { environment: "production" }).json("https://id.example");
    };
    assert.deepEqual((await answer('{"error":"x"}', 400)).body, { error: "x" });
    assert.deepEqual((await answer("[]", 200, "application/jwk-set+json; charset=utf-8")).body, []);
    assert.deepEqual((await answer("{}", 422, "application/problem+json")).body, {});
    assert.equal((await answer("<html>", 502, "text/html")).body, undefined);
    assert.equal((await answer("", 204)).body, undefined);
    for (const [body, type] of [
      ["<html>", "text/html"],
      ["{}", "text/plain"],
      ["{", "application/json"],
    ] as const)
      await assert.rejects(answer(body, 200, type), { code: "provider_answer" });
  });

  it("sends forms without undefined members", async () => {
    let sent: Request | undefined;
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      sent = new Request(input, init);
      return Response.json({});
    };
    const http = createHttp({ fetch }, { environment: "production" });
    await http.form(
      "https://id.example/token",
      { code: "a b&c", none: undefined },
      { authorization: "Basic x" },
    );
    assert.equal(sent?.method, "POST");
    assert.equal(sent?.headers.get("authorization"), "Basic x");
    assert.equal(sent?.headers.get("content-type"), "application/x-www-form-urlencoded");
    assert.equal(await sent?.text(), "code=a+b%26c");
  });
});

describe("providerError", () => {
  it("distinguishes unavailable, refusing and unexpected providers", () => {
    const fault = (status: number, body: unknown) =>
      providerError(
        { request: "POST https://id.example/token", status, body, headers: new Headers() },
        "the token endpoint",
      );
    assert.equal(fault(503, undefined).code, "provider_unreachable");
    assert.equal(fault(429, { error: "slow_down" }).code, "provider_unreachable");
    assert.equal(fault(400, { error: "invalid_grant" }).oauthError, "invalid_grant");
    assert.equal(fault(400, { error: "invalid_grant" }).code, "provider_refused");
    assert.equal(fault(400, "what").code, "provider_answer");
    assert.equal(fault(200, {}).code, "provider_answer");
    assert.doesNotMatch(fault(400, { error: "invalid_grant", error_description: "told" }).message, /told/);
    const odd = fault(400, { error: "a\r\nb", error_description: `forged\nline${"x".repeat(100_000)}` });
    assert.equal(odd.oauthError, "invalid");
    assert.equal(fault(400, { error: "x".repeat(101) }).oauthError, "invalid");
    assert.match(String(odd.cause), /^Error: a\?\?b: forged\?line[x]{1,500}$/);
  });
});

type Served = { status: number; headers: Record<string, string>; body: string };

async function served(answer: (path: string) => Served, use: (base: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const { status, headers, body } = answer(request.url ?? "");
    response.on("error", () => {});
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
