import assert from "node:assert/strict";
import { hkdfSync } from "node:crypto";
import { describe, it } from "node:test";
import { base64url, CompactEncrypt, compactDecrypt } from "jose";
import { createSealedCookie, type SealedCookieOptions } from "./sealed-cookie.ts";

const secret = (fill: number) => base64url.encode(new Uint8Array(32).map((_, index) => index * fill));
const [first, second] = [secret(3), secret(7)];
const START_MS = 1_767_225_600_000;

describe("a sealed cookie", () => {
  it("returns the written value, and reveals nothing of it to the browser", async () => {
    const cookie = sealed();
    const value = { user: "Ada Lovelace", list: [1, null] };
    const [line = ""] = await cookie.write(value);
    assert.match(line, /^__Host-app=1~[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    // As it is, and in base64; of three letters there would be some in one of a thousand sealed values.
    assert.doesNotMatch(line, /Lovelace|TG92ZWxh|xvdmVsYW|b3ZlbGFj/);
    assert.deepEqual(await cookie.read(requestOf([line])), value);
  });

  it("is encrypted with A256GCM under a key derived from the secret", async () => {
    const [line = ""] = await sealed().write("x");
    const jwe = line.slice(line.indexOf("~") + 1, line.indexOf(";"));
    assert.deepEqual(JSON.parse(Buffer.from(jwe.slice(0, jwe.indexOf(".")), "base64url").toString()), {
      alg: "dir",
      enc: "A256GCM",
      typ: "signet-session",
    });
    await assert.rejects(compactDecrypt(jwe, base64url.decode(first)));
    await compactDecrypt(jwe, keyFor("session"));
  });

  it("has a separate key for each purpose, and names the purpose", async () => {
    const content = new TextEncoder().encode(
      JSON.stringify({ name: "__Host-app", exp: START_MS + 1, value: "x" }),
    );
    const made = async (purpose: string, typ: string) => {
      const header = { alg: "dir", enc: "A256GCM", typ };
      const jwe = await new CompactEncrypt(content).setProtectedHeader(header).encrypt(keyFor(purpose));
      return sealed().read(cookieRequest(`__Host-app=1~${jwe}`));
    };
    assert.equal(await made("session", "signet-session"), "x");
    assert.equal(await made("session", "signet-login"), undefined);
    assert.equal(await made("login", "signet-session"), undefined);
  });

  it("has no __Host- and no Secure without https, because browsers would reject it", async () => {
    const cookie = sealed({ isSecure: false });
    const [line = ""] = await cookie.write("x");
    assert.match(line, /^app=1~[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.equal(await cookie.read(requestOf([line])), "x");
  });

  it("doesn't open after its expiry, whatever the browser keeps", async () => {
    let now = START_MS;
    const cookie = sealed({ clock: () => now });
    const lines = await cookie.write("x");
    now += 599_999;
    assert.equal(await cookie.read(requestOf(lines)), "x");
    now += 1;
    assert.equal(await cookie.read(requestOf(lines)), undefined);
  });

  it("only opens under its own name, purpose and secret", async () => {
    const [line = ""] = await sealed().write("x");
    const renamed = line.replace("__Host-app", "__Host-other");
    assert.equal(await sealed({ name: "other" }).read(requestOf([renamed])), undefined);
    assert.equal(await sealed({ purpose: "login" }).read(requestOf([line])), undefined);
    assert.equal(await sealed({ secrets: [second] }).read(requestOf([line])), undefined);
    assert.equal(await sealed().read(requestOf([line])), "x");
  });

  it("still opens after its secret has moved to a later place, and is written with the first", async () => {
    const old = await sealed({ secrets: [first] }).write("x");
    const rotated = sealed({ secrets: [second, first] });
    assert.equal(await rotated.read(requestOf(old)), "x");
    assert.equal(await sealed({ secrets: [second] }).read(requestOf(await rotated.write("y"))), "y");
  });

  it("reads missing, modified or forged values as undefined, and never throws", async () => {
    const cookie = sealed();
    const [line = ""] = await cookie.write("x");
    const value = line.slice(line.indexOf("=") + 1, line.indexOf(";"));
    for (let at = 0; at < value.length; at += 7) {
      const changed = `${value.slice(0, at)}${otherCharacter(value[at] ?? "")}${value.slice(at + 1)}`;
      assert.equal(await cookie.read(cookieRequest(`__Host-app=${changed}`)), undefined, changed);
    }
    for (const header of [
      "",
      "__Host-app",
      "__Host-app=",
      "=x",
      ";;;",
      "__Host-app=9~x",
      "__Host-app=4~",
      "a=b",
    ])
      assert.equal(await cookie.read(cookieRequest(header)), undefined, header);
    assert.equal(await cookie.read(new Request("https://app.example")), undefined);
  });

  it("is found among other cookies, and the first of two counts", async () => {
    const cookie = sealed();
    const [line = ""] = await cookie.write("x");
    const pair = line.slice(0, line.indexOf(";"));
    assert.equal(await cookie.read(cookieRequest(`a=1; ${pair}; __Host-app=1~other`)), "x");
  });

  it("is split into chunks within the limits of browsers", async () => {
    const cookie = sealed();
    const value = "é".repeat(3_500);
    const lines = await cookie.write(value);
    assert.deepEqual(
      lines.map((line) => line.slice(0, line.indexOf("="))),
      ["__Host-app", "__Host-app.1", "__Host-app.2"],
    );
    assert.ok(lines.every((line) => line.length <= 4096));
    assert.equal(await cookie.read(requestOf(lines)), value);
    assert.equal(await cookie.read(requestOf(lines.slice(0, 2))), undefined);
    assert.equal(await cookie.read(requestOf(lines.toReversed())), value);
  });

  it("ignores and deletes leftover chunks of a longer value", async () => {
    const cookie = sealed();
    const long = await cookie.write("x".repeat(8_700));
    const short = await cookie.write("short", requestOf(long));
    assert.deepEqual(
      short.slice(1).map((line) => line.slice(0, line.indexOf("; Path"))),
      ["__Host-app.1=; Max-Age=0", "__Host-app.2=; Max-Age=0", "__Host-app.3=; Max-Age=0"],
    );
    const left = [...short.slice(0, 1), ...long.slice(1)];
    assert.equal(await cookie.read(requestOf(left)), "short");
    assert.equal((await cookie.write("short", requestOf(short))).length, 1);
  });

  it("is rejected if servers would not accept it", async () => {
    // 16 KiB of headers, less what browsers send besides and a sign-in under way.
    await assert.rejects(sealed().write("x".repeat(9_200)), { code: "provider_answer" });
  });

  it("is deleted with all its chunks and the required attributes", async () => {
    const cookie = sealed();
    assert.equal(cookie.clear().length, 4);
    assert.deepEqual(cookie.clear(requestOf(await cookie.write("x"))), [
      "__Host-app=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure",
    ]);
    assert.deepEqual(cookie.clear(new Request("https://app.example")), []);
  });
});

function sealed(options: Partial<SealedCookieOptions> = {}) {
  return createSealedCookie({
    name: "app",
    purpose: "session",
    secrets: [first],
    isSecure: true,
    lifetimeSeconds: 600,
    clock: () => START_MS,
    ...options,
  });
}

/** RFC 5869, by another hand. */
function keyFor(purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", base64url.decode(first), "", `signet cookie ${purpose}`, 32));
}

/** As a browser sends back what it was told to keep. */
function requestOf(lines: readonly string[]): Request {
  const kept = lines.filter((line) => !line.includes("Max-Age=0"));
  return cookieRequest(kept.map((line) => line.slice(0, line.indexOf(";"))).join("; "));
}

function cookieRequest(cookie: string): Request {
  return new Request("https://app.example", { headers: { cookie } });
}

/** Another one of base64url with another first bit: the last bits of a last character may stand for nothing. */
function otherCharacter(character: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return alphabet[(alphabet.indexOf(character) + 32) % 64] ?? "A";
}
