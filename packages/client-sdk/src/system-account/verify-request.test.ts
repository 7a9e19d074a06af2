import assert from "node:assert/strict";
import { test } from "node:test";
import { NONCE_HEADER, TIMESTAMP_HEADER } from "@signet/protocol/hmac-headers";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import { signatureHeaders, signRequest } from "./sign-request.ts";
import { createNonceMemory, createRequestVerifier, type ReceiverOptions } from "./verify-request.ts";

const keys = { publicKey: "0198c7a3-1111-7222-8333-444455556666", secretKey: "sgn_sa_secret" };
const url = "https://stock.example/orders?warehouse=1";
const NOW = 1_790_000_000_000;

let now = NOW;
const clock = () => now;
const verifierFor = (options: Partial<ReceiverOptions> = {}) => {
  now = NOW;
  const secretKeyOf = (publicKey: string) => (publicKey === keys.publicKey ? keys.secretKey : undefined);
  return createRequestVerifier({ secretKeyOf, clock, ...options });
};
const order = (init: RequestInit = {}) => new Request(url, { method: "POST", body: '{"id": 1}\n', ...init });
const signed = (request = order(), options = {}) => signRequest(request, keys, { clock, ...options });
const refused = (code: SignetErrorCode, cause?: RegExp) => (error: unknown) => {
  assert.ok(error instanceof SignetError);
  assert.equal(error.code, code);
  if (cause) assert.match(String(error.cause), cause);
  return true;
};
/** The same request with something about it changed. */
const changed = (
  request: Request,
  change: { url?: string; method?: string; body?: string; headers?: Record<string, string> },
) => {
  const headers = new Headers(request.headers);
  for (const [name, value] of Object.entries(change.headers ?? {})) headers.set(name, value);
  const { method = request.method, body = '{"id": 1}\n' } = change;
  return new Request(change.url ?? request.url, { method, headers, body: method === "GET" ? null : body });
};

test("a signed request is accepted with its signed bytes, and a handler can still read the body", async () => {
  const request = await signed();
  assert.equal(request.headers.get("content-type"), "application/json");
  const { publicKey, body } = await verifierFor()(request);
  assert.equal(publicKey, keys.publicKey);
  assert.equal(new TextDecoder().decode(body), '{"id": 1}\n');
  assert.equal(request.bodyUsed, false);
  assert.equal(await request.text(), '{"id": 1}\n');
});

test("also without a body, and with binary content", async () => {
  const verify = verifierFor();
  await verify(await signed(new Request(url)));
  const body = new Uint8Array([0, 255, 13, 10, 0xc3, 0x28]);
  const request = await signed(new Request(url, { method: "PUT", body, headers: { "content-type": "x/y" } }));
  assert.equal(request.headers.get("content-type"), "x/y");
  assert.deepEqual((await verify(request)).body, body);
});

test("a GET request with a body is rejected: a body parser would read unsigned content", async () => {
  const verify = verifierFor();
  for (const hidden of [
    { "content-length": "7" },
    { "transfer-encoding": "chunked" },
    { "content-length": "x" },
  ]) {
    const { url: address, headers } = await signed(new Request(url));
    for (const [name, value] of Object.entries(hidden)) headers.set(name, value);
    await assert.rejects(
      verify(new Request(address, { headers })),
      refused("signature", /GET request with a body/),
    );
  }
  const { url: address, headers } = await signed(new Request(url));
  headers.set("content-length", "0");
  await verify(new Request(address, { headers }));
});

test("URLs are signed as every platform sends them", async () => {
  const request = await signed(new Request("https://stock.example/x/../orders?#part"));
  assert.deepEqual([request.url, request.redirect], ["https://stock.example/orders", "manual"]);
  await verifierFor()(request);
});

test("any change is rejected", async () => {
  const verify = verifierFor();
  const request = await signed();
  const changes: Parameters<typeof changed>[1][] = [
    { body: '{"id": 2}\n' },
    { body: '{"id": 1}' },
    { method: "PUT" },
    { url: "https://stock.example/orders?warehouse=2" },
    { url: "https://stock.example/orders" },
    { url: "https://stock.example/Orders?warehouse=1" },
    { headers: { [TIMESTAMP_HEADER]: String(NOW / 1000 + 1) } },
    { headers: { [NONCE_HEADER]: "another" } },
    {
      headers: {
        authorization: (request.headers.get("authorization") ?? "")
          .replace(":", ":A")
          .slice(0, -2)
          .concat("="),
      },
    },
  ];
  for (const change of changes)
    await assert.rejects(verify(changed(request, change)), refused("signature"), JSON.stringify(change));
  await verify(request);
});

test("a signature is accepted once, within five minutes of clock skew", async () => {
  const verify = verifierFor();
  const request = await signed();
  await verify(request);
  await assert.rejects(verify(request.clone()), refused("signature", /used before/));
  now = NOW + 300_000;
  await assert.rejects(verify(request.clone()), refused("signature", /used before/));
  now = NOW + 301_000;
  await assert.rejects(verify(request.clone()), refused("signature", /out of range/));
  now = NOW;
  const later = await signed(order(), { clock: () => NOW + 300_000 });
  await verify(later);
  const tooEarly = await signed(order(), { clock: () => NOW + 302_000 });
  await assert.rejects(verify(tooEarly), refused("signature", /out of range/));
});

test("an invalid signature uses up no nonce", async () => {
  const verify = verifierFor();
  const request = await signed();
  await assert.rejects(verify(changed(request, { body: "{}" })), refused("signature"));
  await verify(request);
});

test("a signature of the body alone is rejected unless accepted explicitly", async () => {
  const plain = await signed(order(), { plain: true });
  assert.equal(plain.headers.get(NONCE_HEADER), null);
  await assert.rejects(verifierFor()(plain.clone()), refused("signature", /strict/));
  await verifierFor({ acceptPlain: true })(plain);
  const half = await signed();
  half.headers.delete(NONCE_HEADER);
  await assert.rejects(verifierFor({ acceptPlain: true })(half), refused("signature", /nonce/));
});

test("no signature, another scheme, and an unknown key", async () => {
  const verify = verifierFor();
  await assert.rejects(verify(order()), refused("token_missing"));
  await assert.rejects(
    verify(order({ headers: { authorization: "Bearer x" } })),
    refused("signature", /form/),
  );
  const other = { ...keys, publicKey: "0198c7a3-1111-7222-8333-444455556667" };
  const unknown = await signRequest(order(), other, { clock });
  await assert.rejects(verify(unknown), refused("signature", /unknown/));
  // A look-up that gives an empty text gives no key.
  const empty = await signRequest(order(), { ...keys, secretKey: `sgn_sa_${"0".repeat(43)}` }, { clock });
  await assert.rejects(verifierFor({ secretKeyOf: () => "" })(empty), refused("signature", /unknown/));
});

test("an oversized body isn't read to its end, and an already read one is reported", async () => {
  const verify = verifierFor({ maxBodyBytes: 1000 });
  await verify(await signed(order({ body: "x".repeat(1000) })));
  let pulled = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(600));
    },
  });
  const headers = await signatureHeaders(keys, { method: "POST", url, body: new Uint8Array() }, { clock });
  const endless = new Request(url, { method: "POST", body: stream, headers, duplex: "half" } as RequestInit);
  const tooLarge = (error: unknown) =>
    refused("request_malformed")(error) && (error as SignetError).status === 413;
  await assert.rejects(verify(endless), tooLarge);
  assert.ok(pulled < 10);
  const read = await signed();
  await read.text();
  await assert.rejects(verify(read), refused("request_malformed"));
  const unsigned = order();
  await unsigned.text();
  await assert.rejects(signRequest(unsigned, keys), refused("request_malformed"));
});

test("the memory forgets expired nonces, separates keys, and rejects requests when full", async () => {
  let at = 1_000;
  const memory = createNonceMemory({ clock: () => at, most: 2 });
  assert.deepEqual(
    [await memory.use("a|1", 2_000), await memory.use("b|1", 2_000), await memory.use("a|1", 2_000)],
    [true, true, false],
  );
  await assert.rejects(
    memory.use("c|1", 2_000),
    (error) => refused("signature")(error) && (error as SignetError).status === 503,
  );
  at = 2_000;
  assert.equal(await memory.use("c|1", 3_000), true);
  assert.equal(await memory.use("a|1", 3_000), true);
  const roomy = createNonceMemory({ clock: () => at });
  assert.equal(await roomy.use("a|1", 3_000), true);
  at = 3_000;
  assert.equal(await roomy.use("a|1", 4_000), true, "what has ended is forgotten");
});

test("an interrupted body is the caller's error; an unavailable memory or key store lets nobody in", async () => {
  const broken = () => new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
  const { headers } = await signed();
  const cut = new Request(url, { method: "POST", body: broken(), headers, duplex: "half" } as RequestInit);
  await assert.rejects(verifierFor()(cut), refused("request_malformed"));
  const away = () => Promise.reject(new Error("the store is away"));
  for (const options of [{ secretKeyOf: away }, { secretKeyOf: () => keys.secretKey, nonces: { use: away } }])
    await assert.rejects(createRequestVerifier({ clock, ...options })(await signed()), {
      code: "provider_unreachable",
      status: 503,
    });
});
