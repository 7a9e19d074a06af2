/** The rows of the legacy API whose credential is a session key or a link. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createAction } from "../../core/actions/actions.ts";
import type { ActionType } from "../../core/actions/user-action.ts";
import { makeSessionKey } from "../fixtures/session-key.ts";
import { type ApiRequest, callApi, type TestAccount } from "../fixtures/system-account.ts";
import { withUser } from "../fixtures/visit.ts";
import { makeClient } from "../test-service.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

interface KeyRow {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: (world: ApiWorld, key: string) => string;
  readonly body?: (key: string) => unknown;
  readonly status: number;
  readonly malformed: ReadonlyArray<readonly [what: unknown, status: number]>;
  /** A signature is needed beside the key. */
  readonly isSigned?: true;
}

function keyCase({ method = "GET", path, body, status, malformed, isSigned }: KeyRow): ApiCase {
  const own = ({ service, a }: ApiWorld) => makeSessionKey(service, a);
  const ask = (world: ApiWorld, key: string, account: TestAccount | undefined, more: ApiRequest = {}) =>
    callApi(`${world.baseUrl}${path(world, key)}`, account, {
      method,
      ...(body ? { body: body(key) } : {}),
      ...more,
    });
  return {
    happy: async (world) => {
      for (const account of [...(isSigned ? [] : [undefined]), world.plainOfA, world.administratorOfA]) {
        const answer = await ask(world, await own(world), account);
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.headers.get("cache-control"), "no-store");
      }
    },
    unauthenticated: async (world) => {
      const key = await own(world);
      for (const wrong of [`sgn_sk_${"A".repeat(43)}`, "x"])
        assert.equal((await ask(world, wrong, world.plainOfA)).status, 401);
      assert.equal((await ask(world, key, { ...world.plainOfA, secret: "x" })).status, 401);
      if (isSigned) assert.equal((await ask(world, key, undefined)).status, 401);
    },
    foreign: async (world) => {
      const key = await own(world);
      for (const account of [world.plainOfB, world.administratorOfB])
        assert.equal((await ask(world, key, account)).status, 401);
    },
    forbidden: async (world) => {
      const { service, a } = world;
      const { application } = await makeClient(service, a.organisation, { requireSignedKeyCalls: true });
      const key = await makeSessionKey(service, a, application);
      for (const account of [undefined, world.plainOfA])
        assert.equal((await ask(world, key, account)).status, 401);
    },
    malformed: async (world) => {
      const key = await own(world);
      for (const [what, expected] of malformed) {
        const more = body ? { body: what } : {};
        const url = `${world.baseUrl}${path(world, key)}${body ? "" : what}`;
        const answer = await callApi(url, world.plainOfA, { method, ...more });
        assert.equal(answer.status, expected, String(what));
      }
    },
  };
}

const ACTION = "/legacy/api/Authentication/Action";
const NEW_PASSWORD = "walnut orbit seventeen";
const json = { headers: { accept: "application/json" } };

/** A link of a user of A's, who is nobody else's example. */
async function linkOf({ service, a }: ApiWorld, type: ActionType): Promise<string> {
  const { user } = await withUser(service, a, `link-${randomUUID()}@a.example`);
  const { id } = await createAction(service.database.query, service, {
    orgId: a.organisation.id,
    userId: user.id,
    type,
    data: { email: user.email },
  });
  return id;
}

interface LinkRow {
  readonly method?: "POST";
  readonly type: ActionType;
  readonly path: (id: string, type: string) => string;
  readonly body?: unknown;
  readonly malformed: ApiCase["malformed"];
}

function linkCase({ method, type, path, body, malformed }: LinkRow): ApiCase {
  const ask = ({ baseUrl }: ApiWorld, id: string, account: TestAccount | undefined, named: string = type) =>
    callApi(`${baseUrl}${path(id, named)}`, account, {
      ...json,
      ...(method ? { method } : {}),
      ...(body === undefined ? {} : { body }),
    });
  return {
    happy: async (world) => {
      for (const account of [undefined, world.plainOfA]) {
        const { status, body: told, text } = await ask(world, await linkOf(world, type), account);
        assert.deepEqual([status, told["Type"]], [200, type], text);
      }
    },
    unauthenticated: async (world) => {
      const id = await linkOf(world, type);
      assert.equal((await ask(world, `sgn_ua_${"A".repeat(43)}`, undefined)).status, 404);
      const answer = await ask(world, id, { ...world.plainOfA, secret: "x" });
      assert.deepEqual([answer.status, answer.body["type"]], [401, "urn:signet:error:not-authenticated"]);
    },
    foreign: async (world) => {
      const id = await linkOf(world, type);
      for (const account of [world.plainOfB, world.administratorOfB])
        assert.equal((await ask(world, id, account)).status, 404);
      assert.equal((await ask(world, id, world.plainOfA)).status, 200, "it was not used up");
    },
    forbidden: { none: "whoever has the link may do what it is for" },
    malformed,
  };
}

const otherType =
  (method?: "POST"): ApiCase["malformed"] =>
  async (world) => {
    const id = await linkOf(world, "VerifyEmail");
    for (const type of ["ResetPassword", "verifyemail", "toString", "%00"]) {
      const url = `${world.baseUrl}${ACTION}/${id}/${type}`;
      assert.equal((await callApi(url, undefined, { ...json, ...(method ? { method } : {}) })).status, 404);
    }
  };

export const legacyHolderCases: ApiCases = {
  "POST /legacy/api/Authentication/User/Logout/:everywhere?": keyCase({
    method: "POST",
    path: () => "/legacy/api/Authentication/User/Logout",
    body: (Key) => ({ Key }),
    status: 204,
    malformed: [
      ["{", 400],
      [{}, 401],
      [{ Key: 1 }, 401],
    ],
  }),
  "GET /legacy/api/Authentication/Account/VerifyIdentity/:key?": keyCase({
    path: (_world, key) => `/legacy/api/Authentication/Account/VerifyIdentity/${key}`,
    status: 200,
    malformed: [["?x=1", 422]],
  }),
  "GET /legacy/api/User/Profile/:appId/:key/:extendSetting?": keyCase({
    path: ({ a }, key) => `/legacy/api/User/Profile/${a.web.application.id}/${key}`,
    status: 200,
    malformed: [
      ["/maybe", 404],
      ["?x=%zz", 400],
    ],
  }),
  "PUT /legacy/api/User/Profile/:appId/:key/:extendSetting?": keyCase({
    method: "PUT",
    path: ({ a }, key) => `/legacy/api/User/Profile/${a.web.application.id}/${key}`,
    body: () => ({ Settings: { theme: "dark" } }),
    status: 200,
    isSigned: true,
    malformed: [
      ["{", 400],
      [{ Settings: [] }, 422],
      [{ Settings: {}, Role: "Administrator" }, 422],
      [{ Settings: { text: "x".repeat(17_000) } }, 422],
    ],
  }),
  "GET /legacy/api/Authentication/Action/:id/:type": linkCase({
    type: "VerifyEmail",
    path: (id, type) => `${ACTION}/${id}/${type}`,
    malformed: otherType(),
  }),
  "POST /legacy/api/Authentication/Action/:id/:type": linkCase({
    method: "POST",
    type: "ResetPassword",
    path: (id, type) => `${ACTION}/${id}/${type}`,
    body: { NewPassword: NEW_PASSWORD },
    malformed: async (world) => {
      const id = await linkOf(world, "ResetPassword");
      const url = `${world.baseUrl}${ACTION}/${id}/ResetPassword`;
      for (const [body, status] of [
        ["{", 400],
        [{}, 422],
        [{ NewPassword: "short" }, 422],
        [{ NewPassword: NEW_PASSWORD, Role: "Administrator" }, 422],
      ] as const)
        assert.equal((await callApi(url, undefined, { body })).status, status);
      assert.equal((await callApi(url, undefined, { body: { NewPassword: NEW_PASSWORD } })).status, 200);
    },
  }),
  "GET /legacy/api/Authentication/Action/:id/:type/Requirement": linkCase({
    type: "ResetPassword",
    path: (id, type) => `${ACTION}/${id}/${type}/Requirement`,
    malformed: otherType(),
  }),
  "GET /legacy/api/Authentication/User/Register/Complete/:key": linkCase({
    type: "VerifyEmail",
    path: (id) => `/legacy/api/Authentication/User/Register/Complete/${id}`,
    malformed: async (world) => {
      const id = await linkOf(world, "ResetPassword");
      const url = `${world.baseUrl}/legacy/api/Authentication/User/Register/Complete/${id}`;
      assert.equal((await callApi(url, undefined, json)).status, 404, "a link of another kind");
    },
  }),
  "POST /legacy/api/Authentication/User/Register/Complete/:key": linkCase({
    method: "POST",
    type: "VerifyEmail",
    path: (id) => `/legacy/api/Authentication/User/Register/Complete/${id}`,
    malformed: async (world) => {
      const id = await linkOf(world, "ResetPassword");
      const url = `${world.baseUrl}/legacy/api/Authentication/User/Register/Complete/${id}`;
      for (const [body, status] of [
        ["{", 400],
        [{ NewPassword: NEW_PASSWORD, Role: "Administrator" }, 422],
        [{ NewPassword: NEW_PASSWORD }, 404],
      ] as const)
        assert.equal((await callApi(url, undefined, { body })).status, status);
    },
  }),
};
