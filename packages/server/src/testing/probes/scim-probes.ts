/** SCIM at another organisation than that of the connection. */
import assert from "node:assert/strict";
import type { Service } from "../../modules/open-service.ts";
import { callScim, newScimConnection, type ScimClient } from "../fixtures/scim-connection.ts";
import type { TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
}

const ROOT = "/scim/v2/:org/:connection";

const probe =
  (method: string, path: string) =>
  async ({ service, a, b }: Loot): Promise<void> => {
    const [own, theirs] = [
      await newScimConnection(service, a.organisation.id),
      await newScimConnection(service, b.organisation.id),
    ];
    const id = path.startsWith("/Groups") ? await groupOf(theirs) : b.user.id;
    const below = path.replace(":id", id).replace("*", "nothing");
    const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
    const at = async (root: string) =>
      (await callScim(method, `${root}${below}`, { token: own.token, ...body })).status;
    assert.notEqual(await at(own.root), 401);
    for (const root of [theirs.root, own.root.replace(a.organisation.id, b.organisation.id)])
      assert.equal(await at(root), 401, root);
    // A record of B by A's own connection.
    if (/^\/(?:Users|Groups)\/:id/.test(path)) assert.ok([400, 404].includes(await at(own.root)));
  };

async function groupOf({ root, token }: ScimClient): Promise<string> {
  const body = { displayName: crypto.randomUUID() };
  return String((await callScim("POST", `${root}/Groups`, { token, body })).body["id"]);
}

const routes: ReadonlyArray<readonly [path: string, ...methods: string[]]> = [
  ["/ServiceProviderConfig", "GET"],
  ["/ResourceTypes", "GET"],
  ["/ResourceTypes/:id", "GET"],
  ["/Schemas", "GET"],
  ["/Schemas/:id", "GET"],
  ["/Users", "GET", "POST"],
  ["/Users/.search", "POST"],
  ["/Users/:id", "GET", "PUT", "PATCH", "DELETE"],
  ["/Groups", "GET", "POST"],
  ["/Groups/.search", "POST"],
  ["/Groups/:id", "GET", "PUT", "PATCH", "DELETE"],
  ["/.search", "POST"],
  ["/Bulk", "POST"],
  ["/*", "GET", "POST", "PUT", "PATCH", "DELETE"],
];

export const scimProbes = Object.fromEntries(
  routes.flatMap(([path, ...methods]) =>
    methods.map((method) => [`${method} ${ROOT}${path}`, probe(method, path)] as const),
  ),
);
