/** Shared signals at another organisation than the client's. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { ask } from "../ask.ts";
import { tokenFor } from "../fixtures/api-client.ts";
import { makeClient, type TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

const receiverOf = async (service: Service, org: TestOrganisation): Promise<string> => {
  const grantTypes = ["client_credentials"] as const;
  const allowedScopes = ["ssf.read", "ssf.manage"];
  return tokenFor(org, await makeClient(service, org.organisation, { grantTypes, allowedScopes }));
};

const send = (url: string, method: string, token: string, body?: object) =>
  ask(url, {
    ...{ method, ...(body ? { body: JSON.stringify(body) } : {}) },
    headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
  });

const probe =
  (method: string, path: string) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const [ofA, ofB] = [await receiverOf(service, a), await receiverOf(service, b)];
    const made = await send(`${a.issuer}/ssf/streams`, "POST", ofA, {});
    const { stream_id } = JSON.parse(made.text) as { stream_id: string };
    const isQuery = method === "GET" || method === "DELETE";
    const subject = { format: "iss_sub", iss: a.issuer, sub: a.user.id };
    const body = isQuery ? undefined : { stream_id, status: "disabled", subject, returnImmediately: true };
    const below = path.replace(":streamId", stream_id) + (isQuery ? `?stream_id=${stream_id}` : "");
    const at = async (org: TestOrganisation, token: string) =>
      (await send(`${org.issuer}/ssf${below}`, method, token, body)).status;
    assert.equal(await at(b, ofA), 401, "A's client at B");
    // What a new stream asks for names no other.
    if (!(method === "POST" && path === "/streams")) assert.equal(await at(b, ofB), 404, "A's stream at B");
    const kept = await send(`${a.issuer}/ssf/status?stream_id=${stream_id}`, "GET", ofA);
    assert.match(kept.text, /"enabled"/);
  };

const published =
  (method: string) =>
  async ({ a, b }: Loot): Promise<void> => {
    const base = b.issuer.slice(0, b.issuer.indexOf("/oauth/"));
    const url = `${base}/.well-known/ssf-configuration/oauth/${b.organisation.id}`;
    const { status, text } = await ask(url, { method });
    assert.equal(status, 200);
    assert.ok(!text.includes(a.organisation.id));
  };

const routes: ReadonlyArray<readonly [path: string, ...methods: string[]]> = [
  ["/streams", "GET", "POST", "PATCH", "PUT", "DELETE"],
  ["/status", "GET", "POST"],
  ["/subjects/add", "POST"],
  ["/subjects/remove", "POST"],
  ["/verify", "POST"],
  ["/streams/:streamId/poll", "POST"],
];

export const ssfProbes = {
  "GET /.well-known/ssf-configuration/oauth/:org": published("GET"),
  "HEAD /.well-known/ssf-configuration/oauth/:org": published("HEAD"),
  ...Object.fromEntries(
    routes.flatMap(([path, ...methods]) =>
      methods.map((method) => [`${method} /oauth/:org/ssf${path}`, probe(method, path)] as const),
    ),
  ),
};
