import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import cookie from "@fastify/cookie";
import Fastify from "fastify";
import { createEncryption } from "../../core/encryption/encryption.ts";
import { keyRing } from "../../core/encryption/key-ring.ts";
import { type UndoBinding, undoCookie } from "./undo-cookie.ts";

const seals = createEncryption(keyRing(randomBytes(32)));
const binding = { orgId: "acme", sessionId: "s1" };

/** What the browser gets for a text, and what the service reads of that cookie for another binding. */
async function exchange(
  baseUrl: string,
  url: string,
  { text, reader }: { text: string; reader: UndoBinding },
) {
  const undo = undoCookie(baseUrl, seals);
  const app = Fastify();
  await app.register(cookie);
  app.get("/*", (request, reply) => {
    const cleared = request.headers["x-clear"] !== undefined;
    if (cleared) undo.clear({ request, reply }, binding);
    else undo.write({ request, reply }, binding, text, 600);
    return { read: undo.read(request, reader) ?? null };
  });
  const written = await app.inject({ url });
  const [sent] = written.cookies;
  const cookies = sent === undefined || sent.value === "" ? {} : { [sent.name]: sent.value };
  const read = await app.inject({ url, cookies });
  const gone = await app.inject({ url, headers: { "x-clear": "1" } });
  await app.close();
  return { sent, read: read.json<{ read: string | null }>().read, gone: gone.cookies[0] };
}

test("is read by the session of the organisation that it was written for, and by no other", async () => {
  const of = (reader: UndoBinding) =>
    exchange("http://127.0.0.1", "/oauth/manage/acme/x", { text: "before", reader });
  assert.equal((await of(binding)).read, "before");
  assert.equal((await of({ ...binding, sessionId: "s2" })).read, null);
  // The name differs, too: under the same name the seal does not open.
  const sealed = (await of(binding)).sent?.value ?? "";
  const undo = undoCookie("http://127.0.0.1", seals);
  const request = { cookies: { "signet-undo-beta": sealed } } as unknown as Parameters<typeof undo.read>[0];
  assert.equal(undo.read(request, { ...binding, orgId: "beta" }), undefined);
});

test("goes to the console's pages that it was written at, over https alone where the service has it", async () => {
  const reader = binding;
  const places = [
    ["/oauth/manage/acme/scopes/1/edit", "/oauth/manage/acme"],
    ["/devices/manage/acme/policy", "/devices/manage/acme"],
  ] as const;
  for (const [url, path] of places) {
    const { sent, read, gone } = await exchange("https://id.example", url, { text: "before", reader });
    assert.equal(read, "before");
    const { name, value: _, expires: __, ...attributes } = sent ?? { name: "", value: "" };
    assert.equal(name, "__Secure-signet-undo-acme");
    assert.deepEqual(attributes, { maxAge: 600, path, httpOnly: true, secure: true, sameSite: "Lax" });
    assert.deepEqual([gone?.name, gone?.path, gone?.value], [name, path, ""]);
  }
});

test("holds a long text that is compressed well, and nothing of one that isn't", async () => {
  const of = (text: string) =>
    exchange("http://127.0.0.1", "/oauth/manage/acme/x", { text, reader: binding });
  const long = "https://app.example/callback\n".repeat(2_000);
  assert.equal((await of(long)).read, long);
  for (const text of [randomBytes(4_000).toString("base64"), "a".repeat(1_000_001)]) {
    const { sent, read } = await of(text);
    assert.equal(sent?.value, "");
    assert.equal(read, null);
  }
});
