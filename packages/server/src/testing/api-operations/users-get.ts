import assert from "node:assert/strict";
import { callApi } from "../fixtures/system-account.ts";
import type { ApiCases, ApiWorld } from "./api-operation.ts";

const url = ({ baseUrl }: ApiWorld) => `${baseUrl}/legacy/api/users/get`;

export const usersGetCases: ApiCases = {
  "POST /legacy/api/users/get": {
    happy: async (world) => {
      const { status, body } = await callApi(url(world), world.plainOfA, {
        body: { email: world.a.user.email },
      });
      assert.deepEqual([status, body["PermId"]], [200, world.a.user.id]);
    },
    unauthenticated: async (world) => {
      const body = { email: world.a.user.email };
      assert.equal((await callApi(url(world), undefined, { body })).status, 401);
      assert.equal((await callApi(url(world), { ...world.plainOfA, secret: "x" }, { body })).status, 401);
    },
    foreign: async (world) => {
      const body = { email: world.a.user.email };
      assert.equal((await callApi(url(world), world.plainOfB, { body })).status, 404);
      const named = { ...body, ApplicationId: world.a.web.application.id };
      assert.equal((await callApi(url(world), world.plainOfB, { body: named })).status, 401);
    },
    forbidden: async (world) => {
      const body = { email: world.a.user.email, ApplicationId: world.a.batch.application.id };
      assert.equal((await callApi(url(world), world.plainOfA, { body })).status, 401);
    },
    malformed: async (world) => {
      for (const [body, status] of [
        ["{", 400],
        [{}, 422],
        [{ email: 1 }, 422],
        [{ email: "a", x: 1 }, 422],
      ] as const)
        assert.equal((await callApi(url(world), world.plainOfA, { body })).status, status);
    },
  },
};
