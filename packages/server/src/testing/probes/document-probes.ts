/** For organisation-isolation.test.ts: published documents of each organisation. */
import assert from "node:assert/strict";
import type { TestOrganisation } from "../test-service.ts";

type Probe = (loot: { readonly a: TestOrganisation; readonly b: TestOrganisation }) => Promise<void>;

/** Of an application of A. */
export const ORIGIN_AT_A = "https://only-at-a.example";
const get = (url: string) => fetch(url, { redirect: "manual" });

/** @param address of the document, below the server's address, of the organisation's ID */
const metadata =
  (address: (orgId: string) => string): Probe =>
  async ({ a, b }) => {
    const response = await get(`${new URL(b.issuer).origin}${address(b.organisation.id)}`);
    const text = await response.text();
    assert.equal(response.status, 200);
    assert.ok(text.includes(b.organisation.id) && !text.includes(a.organisation.id));
  };
/** The answer is the same for every organisation. */
export const publicPreflight: Probe = async ({ a, b }) => {
  const ask = async ({ issuer }: TestOrganisation) => {
    const url = `${issuer}/.well-known/openid-configuration`;
    const { status, headers } = await fetch(url, { method: "OPTIONS", headers: { origin: ORIGIN_AT_A } });
    return [status, headers.get("access-control-allow-origin")];
  };
  assert.deepEqual(
    [await ask(a), await ask(b)],
    [
      [204, "*"],
      [204, "*"],
    ],
  );
};
const jwks: Probe = async ({ a, b }) => {
  const kids = async ({ issuer }: TestOrganisation) =>
    ((await (await get(`${issuer}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }).keys.map(
      ({ kid }) => kid,
    );
  const [ofA, ofB] = [await kids(a), await kids(b)];
  assert.ok(ofA.length >= 2 && ofB.length >= 2);
  assert.equal(new Set([...ofA, ...ofB]).size, ofA.length + ofB.length);
};
export const preflight =
  (endpoint: string): Probe =>
  async ({ a, b }) => {
    const ask = ({ issuer }: TestOrganisation) =>
      fetch(`${issuer}/${endpoint}`, {
        method: "OPTIONS",
        headers: { origin: ORIGIN_AT_A, "access-control-request-method": "POST" },
      });
    assert.equal((await ask(a)).headers.get("access-control-allow-origin"), ORIGIN_AT_A);
    assert.equal((await ask(b)).headers.get("access-control-allow-origin"), null);
  };

export const documentProbes = {
  ...Object.fromEntries(
    [
      "/oauth/:org/.well-known/openid-configuration",
      "/oauth/:org/.well-known/oauth-authorization-server",
      "/.well-known/openid-configuration/oauth/:org",
      "/.well-known/oauth-authorization-server/oauth/:org",
    ].flatMap((path) => [
      ...["GET", "HEAD"].map((method) => [`${method} ${path}`, metadata((id) => path.replace(":org", id))]),
      [`OPTIONS ${path}`, publicPreflight],
    ]),
  ),
  "GET /oauth/:org/.well-known/jwks.json": jwks,
  "HEAD /oauth/:org/.well-known/jwks.json": jwks,
  "OPTIONS /oauth/:org/.well-known/jwks.json": publicPreflight,
} as Readonly<Record<string, Probe>>;
