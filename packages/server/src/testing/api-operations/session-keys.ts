/** Calls whose credential is a session key: alone, or with a system account's signature. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { makeSessionKey } from "../fixtures/session-key.ts";
import { callApi } from "../fixtures/system-account.ts";
import { makeClient } from "../test-service.ts";
import type { ApiCase, ApiCases, ApiWorld } from "./api-operation.ts";

interface Row {
  readonly method?: "GET" | "POST";
  readonly path: (key: string, world: ApiWorld) => string;
  readonly status: number;
  readonly malformed: ApiCase["malformed"];
}

function caseOf({ method = "GET", path, status, malformed }: Row): ApiCase {
  const url = (world: ApiWorld, key: string) => `${world.baseUrl}${path(key, world)}`;
  const own = ({ service, a }: ApiWorld) => makeSessionKey(service, a);
  return {
    happy: async (world) => {
      for (const account of [undefined, world.plainOfA, world.administratorOfA]) {
        const answer = await callApi(url(world, await own(world)), account, { method });
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.headers.get("cache-control"), "no-store");
      }
    },
    unauthenticated: async (world) => {
      const key = await own(world);
      for (const wrong of [`sgn_sk_${"A".repeat(43)}`, `${key.slice(0, -1)}_`, "x"])
        assert.equal((await callApi(url(world, wrong), undefined, { method })).status, 401, wrong);
      const stranger = { ...world.plainOfA, secret: "sgn_sa_x" };
      const answer = await callApi(url(world, key), stranger, { method });
      assert.deepEqual([answer.status, answer.body["type"]], [401, "urn:signet:error:not-authenticated"]);
    },
    foreign: async (world) => {
      const key = await own(world);
      for (const account of [world.plainOfB, world.administratorOfB])
        assert.equal((await callApi(url(world, key), account, { method })).status, 401);
    },
    forbidden: async (world) => {
      // Signed by an account that has no permission on the key's application, or not signed where it must be.
      const { service, a } = world;
      const settings = { requireSignedKeyCalls: true };
      const { application } = await makeClient(service, a.organisation, settings);
      const key = await makeSessionKey(service, a, application);
      for (const account of [undefined, world.plainOfA, world.administratorOfA])
        assert.equal((await callApi(url(world, key), account, { method })).status, 401);
      const granted = { orgId: a.organisation.id, applicationId: application.id, actor: "test" };
      await grantApplication(service, { ...granted, id: world.administratorOfA.id });
      assert.equal((await callApi(url(world, key), world.administratorOfA, { method })).status, status);
    },
    malformed,
  };
}

const noBody: ApiCase["malformed"] = {
  none: "it takes neither a body nor a query; keys are told in the address",
};
const bodyRefused = (path: (key: string) => string) => async (world: ApiWorld) => {
  const key = await makeSessionKey(world.service, world.a);
  const url = `${world.baseUrl}${path(key)}`;
  assert.equal((await callApi(url, undefined, { body: {} })).status, 422);
  assert.equal((await callApi(url, undefined, { body: "{" })).status, 400);
};

export const sessionKeyCases: ApiCases = {
  "GET /legacy/api/auth/validate": caseOf({
    path: (key) => `/legacy/api/auth/validate?key=${key}`,
    status: 200,
    malformed: async (world) => {
      const key = await makeSessionKey(world.service, world.a);
      const url = `${world.baseUrl}/legacy/api/auth/validate`;
      assert.equal((await callApi(`${url}?key=${key}&x=1`, undefined)).status, 422);
      assert.equal((await callApi(`${url}?key=${key}&key=${key}`, undefined)).status, 401);
      assert.equal((await callApi(url, undefined)).status, 401);
      assert.equal((await callApi(`${url}?key=%zz`, undefined)).status, 400);
    },
  }),
  "GET /legacy/api/Keys/User/:key": caseOf({
    path: (key) => `/legacy/api/Keys/User/${key}`,
    status: 200,
    malformed: noBody,
  }),
  "POST /legacy/api/Keys/User/:key/Convert/To/UserTemp": caseOf({
    method: "POST",
    path: (key) => `/legacy/api/Keys/User/${key}/Convert/To/UserTemp`,
    status: 201,
    malformed: bodyRefused((key) => `/legacy/api/Keys/User/${key}/Convert/To/UserTemp`),
  }),
  "POST /legacy/api/Keys/User/:key/Convert/To/UserPerm": {
    ...caseOf({
      method: "POST",
      path: (key) => `/legacy/api/Keys/User/${key}/Convert/To/UserPerm`,
      // The web application has not allowed permanent keys.
      status: 403,
      malformed: bodyRefused((key) => `/legacy/api/Keys/User/${key}/Convert/To/UserPerm`),
    }),
    happy: async ({ service, a, baseUrl }) => {
      const { application } = await makeClient(service, a.organisation, { allowPermanentKeys: true });
      const key = await makeSessionKey(service, a, application);
      const url = `${baseUrl}/legacy/api/Keys/User/${key}/Convert/To/UserPerm`;
      const answer = await callApi(url, undefined, { method: "POST" });
      assert.deepEqual([answer.status, answer.body["Kind"]], [201, "UserPerm"]);
    },
  },
  "GET /legacy/api/Keys/User/:key/Permission/:appId": {
    ...caseOf({
      path: (key, { a }) => `/legacy/api/Keys/User/${key}/Permission/${a.web.application.id}`,
      status: 200,
      malformed: noBody,
    }),
    foreign: async (world) => {
      const key = await makeSessionKey(world.service, world.a);
      const url = (appId: string) => `${world.baseUrl}/legacy/api/Keys/User/${key}/Permission/${appId}`;
      for (const appId of [world.b.web.application.id, randomUUID(), "x"])
        assert.equal((await callApi(url(appId), undefined)).status, 404);
      assert.equal((await callApi(url(world.a.web.application.id), world.plainOfB)).status, 401);
    },
  },
};
