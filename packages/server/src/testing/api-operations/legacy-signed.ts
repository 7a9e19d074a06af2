/** The rows of the legacy API that a system account signs. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { makeSessionKey } from "../fixtures/session-key.ts";
import { type ApiAnswer, type ApiRequest, callApi, type TestAccount } from "../fixtures/system-account.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

interface Row {
  readonly method?: "GET" | "POST";
  readonly path: (world: ApiWorld) => string;
  readonly body?: (world: ApiWorld) => Readonly<Record<string, unknown>>;
  readonly happy: (answer: ApiAnswer, world: ApiWorld) => void;
  /** What B's account gets for A's. */
  readonly foreign: (ask: Ask, world: ApiWorld) => Promise<void>;
  /** A body or a query that is none; the status expected. */
  readonly malformed: ReadonlyArray<readonly [what: unknown, status: number]> | { readonly none: string };
  /** Its path names the application, by this path. */
  readonly ofApplication?: (world: ApiWorld, applicationId: string) => string;
}

type Ask = (account: TestAccount | undefined, more?: ApiRequest & { path?: string }) => Promise<ApiAnswer>;

function askIn(world: ApiWorld, { method = "GET", path, body }: Row): Ask {
  return (account, { path: other, ...more } = {}) =>
    callApi(`${world.baseUrl}${other ?? path(world)}`, account, {
      method,
      ...(body ? { body: body(world) } : {}),
      ...more,
    });
}

function caseOf(row: Row): ApiCase {
  const { malformed, ofApplication, body } = row;
  return {
    happy: async (world) => {
      const answer = await askIn(world, row)(world.plainOfA);
      row.happy(answer, world);
      assert.equal(answer.headers.get("cache-control"), "no-store");
    },
    unauthenticated: async (world) => {
      const ask = askIn(world, row);
      assert.equal((await ask(undefined)).status, 401);
      assert.equal((await ask({ ...world.plainOfA, secret: "x" })).status, 401);
    },
    foreign: (world) => row.foreign(askIn(world, row), world),
    forbidden:
      ofApplication || body
        ? async (world) => {
            for (const id of [world.a.batch.application.id, world.b.web.application.id, randomUUID(), "x"]) {
              const named = ofApplication
                ? { path: ofApplication(world, id) }
                : { body: { ...body?.(world), ApplicationId: id } };
              assert.equal((await askIn(world, row)(world.plainOfA, named)).status, 401, id);
            }
          }
        : { none: "every system account of the organisation may ask this" },
    malformed:
      "none" in malformed
        ? malformed
        : async (world) => {
            for (const [what, status] of malformed) {
              const more = body ? { body: what } : { path: `${row.path(world)}${what}` };
              assert.equal((await askIn(world, row)(world.plainOfA, more)).status, status, String(what));
            }
          },
  };
}

const badPages = [
  ["?limit=0", 422],
  ["?cursor=x", 422],
  ["?x=1", 422],
  ["?limit=1&limit=2", 422],
] as const;

const listsApplicationsOfA = ({ status, body }: ApiAnswer, world: ApiWorld) => {
  assert.equal(status, 200);
  const items = body["items"] as Array<Record<string, unknown>>;
  const web = items.find((one) => one["ApplicationId"] === world.a.web.application.id);
  assert.deepEqual(web, {
    ApplicationId: world.a.web.application.id,
    Name: "Web",
    OrganisationId: world.a.organisation.id,
    Url: null,
  });
};

const listsNothingOfA: Row["foreign"] = async (ask, world) => {
  const { status, text } = await ask(world.plainOfB);
  assert.equal(status, 200);
  assert.ok(!text.includes(world.a.organisation.id) && !text.includes(world.a.web.application.id));
};

const registration = () => ({
  Email: `new-${randomUUID()}@example.com`,
  Password: "walnut orbit seventeen",
  Firstname: "Nina",
  Surname: "New",
});
const badRegistrations = [
  ["{", 400],
  [{}, 422],
  [{ ...registration(), Role: "Administrator" }, 422],
  [{ ...registration(), Email: "nobody" }, 422],
  [{ ...registration(), Password: "short" }, 422],
  [{ ...registration(), Phone: "<b>" }, 422],
] as const;
const taken = ({ status }: ApiAnswer) => assert.equal(status, 202);
const loginPath = "/legacy/api/Authentication/User/Login";
const accountPath = ({ a }: ApiWorld, publicId = a.organisation.id) =>
  `/legacy/api/Authentication/Organisation/${publicId}/Register/Account`;

export const legacySignedCases: ApiCases = {
  "POST /legacy/api/Authentication/User/Login/:appId?": caseOf({
    method: "POST",
    path: ({ a }) => `${loginPath}/${a.web.application.id}`,
    body: ({ a }) => ({ Email: a.user.email, Password: a.user.password }),
    happy: ({ status, body }, { a }) => {
      assert.equal(status, 200);
      assert.match(String(body["Key"]), /^sgn_sk_/);
      assert.equal((body["User"] as Record<string, unknown>)["PermId"], a.user.id);
    },
    foreign: async (ask, world) => {
      assert.equal((await ask(world.plainOfB)).status, 401, "A's application");
      const { status, body } = await ask(world.plainOfB, { path: loginPath });
      assert.deepEqual([status, body["type"]], [401, "urn:signet:error:invalid-credentials"], "A's user");
      const administrator = await ask(world.administratorOfB);
      assert.equal(administrator.body["type"], "urn:signet:error:not-authenticated");
    },
    ofApplication: (_world, id) => `${loginPath}/${id}`,
    malformed: [
      ["{", 400],
      [{}, 422],
      [{ Email: "a", Password: 1 }, 422],
      [{ Email: "a", Password: "b", Role: "Administrator" }, 422],
    ],
  }),
  "POST /legacy/api/Authentication/User/Register": caseOf({
    method: "POST",
    path: () => "/legacy/api/Authentication/User/Register",
    body: registration,
    happy: taken,
    foreign: async (ask, world) => {
      const named = { ...registration(), OrganisationId: world.a.organisation.id };
      assert.equal((await ask(world.plainOfB, { body: named })).status, 422, "it names no organisation");
    },
    malformed: badRegistrations,
  }),
  "POST /legacy/api/Authentication/Organisation/:publicId/Register/Account": caseOf({
    method: "POST",
    path: accountPath,
    body: registration,
    happy: taken,
    foreign: async (ask, world) => {
      for (const account of [world.plainOfB, world.administratorOfB])
        assert.equal((await ask(account)).status, 404);
      for (const id of [randomUUID(), "x"])
        assert.equal((await ask(world.plainOfA, { path: accountPath(world, id) })).status, 404);
    },
    malformed: badRegistrations,
  }),
  "POST /legacy/api/Authentication/User/Roaming/Register": caseOf({
    method: "POST",
    path: () => "/legacy/api/Authentication/User/Roaming/Register",
    body: ({ b }) => ({ Email: b.user.email, HomeOrganisationId: b.organisation.id }),
    happy: taken,
    foreign: async (ask, world) => {
      const body = { PermId: world.b.user.id, HomeOrganisationId: world.a.organisation.id };
      assert.equal((await ask(world.plainOfB, { body })).status, 202, "as for everybody");
      const rows = await world.service.database.query
        .selectFrom("membership")
        .select("user_id")
        .where("org_id", "=", world.b.organisation.id)
        .where("home_org_id", "=", world.a.organisation.id)
        .execute();
      assert.deepEqual(rows, []);
    },
    malformed: [
      ["{", 400],
      [{}, 422],
      [{ Email: "a@b.example", PermId: randomUUID(), HomeOrganisationId: randomUUID() }, 422],
      [{ HomeOrganisationId: randomUUID() }, 422],
      [{ Email: "a@b.example", HomeOrganisationId: "x" }, 422],
      [{ Email: "a@b.example", HomeOrganisationId: randomUUID(), Role: "Administrator" }, 422],
    ],
  }),
  "POST /legacy/api/Authentication/User/:email/PasswordReset": caseOf({
    method: "POST",
    path: ({ a }) => `/legacy/api/Authentication/User/${a.user.email}/PasswordReset`,
    body: () => ({}),
    happy: taken,
    foreign: async (ask, world) => {
      const before = await countActions(world);
      assert.equal((await ask(world.plainOfB)).status, 202, "as for everybody");
      assert.equal(await countActions(world), before, "no link of A's user");
    },
    malformed: [
      ["{", 400],
      [{ NewPassword: "walnut orbit seventeen" }, 422],
    ],
  }),
  "GET /legacy/api/User/:userId/ServiceSessions": {
    ...caseOf({
      path: ({ a }) => `/legacy/api/User/${a.user.id}/ServiceSessions`,
      happy: ({ status, body }) => {
        assert.equal(status, 200);
        assert.ok(Array.isArray(body["items"]));
      },
      foreign: async (ask, world) => {
        for (const account of [world.plainOfB, world.administratorOfB])
          assert.equal((await ask(account)).status, 404);
        for (const id of ["x", randomUUID()]) {
          const path = `/legacy/api/User/${id}/ServiceSessions`;
          assert.equal((await ask(world.plainOfA, { path })).status, 404);
        }
      },
      malformed: badPages,
    }),
    forbidden: async (world) => {
      const { service, a, baseUrl, administratorOfA } = world;
      await makeSessionKey(service, a, a.native);
      const url = `${baseUrl}/legacy/api/User/${a.user.id}/ServiceSessions?limit=200`;
      for (const account of [world.plainOfA, administratorOfA])
        assert.ok(!(await callApi(url, account)).text.includes(a.native.id), "another application's");
      const granted = { orgId: a.organisation.id, applicationId: a.native.id, actor: "test" };
      await grantApplication(service, { ...granted, id: administratorOfA.id });
      assert.ok((await callApi(url, administratorOfA)).text.includes(a.native.id));
    },
  },
  "GET /legacy/api/User/Username/Available/:username": caseOf({
    path: () => "/legacy/api/User/Username/Available/uma",
    happy: ({ status, body }) => assert.deepEqual([status, body], [200, { Available: true }]),
    foreign: async (ask, world) => assert.equal((await ask(world.plainOfB)).status, 200),
    malformed: [
      ["@example", 422],
      ["%20.", 422],
      ["%00", 404],
      ["%zz", 400],
      ["?x=%zz", 400],
    ],
  }),
  "GET /legacy/api/Organisation/Application/List": caseOf({
    path: () => "/legacy/api/Organisation/Application/List",
    happy: listsApplicationsOfA,
    foreign: listsNothingOfA,
    malformed: badPages,
  }),
  "GET /legacy/api/Organisation/External/Application/List": {
    ...caseOf({
      path: () => "/legacy/api/Organisation/External/Application/List",
      happy: listsApplicationsOfA,
      foreign: listsNothingOfA,
      malformed: badPages,
    }),
    forbidden: async ({ service, baseUrl, plainOfA, administratorOfA, a }) => {
      const url = `${baseUrl}/legacy/api/Organisation/External/Application/List`;
      const applicationId = a.batch.application.id;
      for (const account of [plainOfA, administratorOfA])
        assert.ok(!(await callApi(url, account)).text.includes(applicationId));
      const granted = { orgId: a.organisation.id, applicationId, actor: "test" };
      await grantApplication(service, { ...granted, id: administratorOfA.id });
      assert.ok((await callApi(url, administratorOfA)).text.includes(applicationId));
    },
  },
  "GET /legacy/api/Organisations/:appId/:publicId/application/list": caseOf({
    path: ({ a }) => listPath(a.web.application.id, a.organisation.id),
    happy: listsApplicationsOfA,
    foreign: async (ask, world) => {
      assert.equal((await ask(world.plainOfB)).status, 401, "A's application");
      assert.equal((await ask(world.administratorOfB)).status, 401);
      const ofB = listPath(world.b.web.application.id, world.a.organisation.id);
      assert.equal((await ask(world.plainOfB, { path: ofB })).status, 404, "A itself");
    },
    ofApplication: ({ a }, id) => listPath(id, a.organisation.id),
    malformed: badPages,
  }),
};

const listPath = (appId: string, orgId: string) =>
  `/legacy/api/Organisations/${appId}/${orgId}/application/list`;

async function countActions({ service, a }: ApiWorld): Promise<number> {
  const rows = await service.database.query
    .selectFrom("user_action")
    .select("id_hash")
    .where("user_id", "=", a.user.id)
    .execute();
  return rows.length;
}
