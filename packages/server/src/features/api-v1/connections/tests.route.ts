/** /api/v1/organisations/{org}/connections/{id}/test and /tests: what a sign-in would bring, without one. */
import Type from "typebox";
import { findConnection } from "../../../core/connections/connections.store.ts";
import {
  type ConnectionTest,
  findConnectionTest,
} from "../../../core/connections/sign-in/connection-tests.store.ts";
import {
  createConnectionTest,
  openTestResult,
  testLinkExpiry,
} from "../../../core/connections/sign-in/connection-tests.ts";
import { failureReasons } from "../../../core/connections/sign-in/failure.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { wireTime } from "../../../http/api/times.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, getRoute } from "../frame/resource-routes.ts";

const orNull = <T extends Type.TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const textOrNull = orNull(Type.String());

const started = {
  id: Type.String({ format: "uuid" }),
  expiresAt: Type.String({ format: "date-time", description: "Until then the address can be opened" }),
};

const startedSchema = Type.Object(
  {
    ...started,
    url: Type.String({ format: "uri", description: "Shown once: opened once, in any browser" }),
  },
  { title: "ApiStartedConnectionTest" },
);

const mapped = Type.Object({
  ...{ email: textOrNull, emailVerified: Type.Boolean(), firstname: Type.String(), surname: Type.String() },
  ...{ username: textOrNull, phone: textOrNull, locale: textOrNull },
  attributes: Type.Record(Type.String(), Type.Unknown()),
  groups: Type.Array(Type.String({ description: "A group's id" })),
});

const account = Type.Object({
  action: Type.Enum(["create", "signIn", "link", "refuse"], {
    description: "What would become of a sign-in, when the person can prove what is asked",
  }),
  proof: Type.Array(Type.Enum(["email", "account"]), {
    description: "What the person would prove first: the address by a code, the account by its own factors",
  }),
});

const testSchema = Type.Object(
  {
    ...started,
    state: Type.Enum(["pending", "succeeded", "failed"]),
    reason: orNull(
      Type.Enum([...failureReasons]),
      "Of a failure, and of an account that would be refused although the provider's answer is good",
    ),
    claims: orNull(
      Type.Record(Type.String(), Type.Unknown()),
      "As they arrived: in the ID token and from userinfo, of which those of the ID token go first; or as the attributes of SAML",
    ),
    claimsLeftOut: Type.Array(Type.String(), { description: "Claims that are too large to be kept" }),
    mapped: orNull(mapped, "The members of the user that the claims map to"),
    account: orNull(account),
  },
  { title: "ApiConnectionTest" },
);

const startedRecord = (test: ConnectionTest) => ({
  id: test.id,
  expiresAt: wireTime(testLinkExpiry(test)),
});

function testRecord(test: ConnectionTest, { encryption }: ApiDeps) {
  const result = openTestResult(encryption, test);
  const user = result?.mapped;
  return {
    ...startedRecord(test),
    ...{ state: test.outcome, reason: test.reason, claims: result?.claims ?? null },
    claimsLeftOut: result?.claimsLeftOut ?? [],
    mapped: user
      ? {
          ...{ email: user.email ?? null, emailVerified: user.emailVerified },
          ...{ firstname: user.firstname, surname: user.surname, username: user.username ?? null },
          ...{ phone: user.phone ?? null, locale: user.locale ?? null },
          ...{ attributes: user.attributes, groups: user.groups },
        }
      : null,
    account: result?.account ?? null,
  };
}

export function apiConnectionTestsRoutes(api: ApiScope, deps: ApiDeps): void {
  const shared = {
    ...{ api, deps, tag: "API v1: connections", one: "test", many: "tests" },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
  } as const;
  const starts: ApiResource<ConnectionTest> = { ...shared, schema: startedSchema, record: startedRecord };
  createRoute(
    starts,
    "/api/v1/organisations/:org/connections/:id/test",
    {
      ...{ operationId: "apiTestConnection", summary: "Start a test sign-in, which makes nothing" },
      description:
        "Of an identity provider, enabled or not. `url` is opened in any browser, once, within ten minutes; what came back is read for an hour.",
      ...{ body: strictObject({}), bodyOptional: true, example: {} },
      records: "/api/v1/organisations/:org/connections/:id/tests",
    },
    async (inside, { caller, orgId, params }) => {
      const id = idOf(params);
      const connection = await findConnection(inside.database.query, { orgId, id });
      if (!connection || !isSignInConnection(connection)) throw notFound();
      const { test, link } = await createConnectionTest(inside, { ...actOf(caller), connectionId: id });
      const url = `${deps.baseUrl}/oauth/${orgId}/connections/${id}/test?link=${link}`;
      return { row: test, members: { url }, shownOnce: ["url"] };
    },
  );
  const tests: ApiResource<ConnectionTest> = {
    ...{ ...shared, schema: testSchema, record: testRecord },
    idParameter: "testId",
  };
  getRoute(
    tests,
    "/api/v1/organisations/:org/connections/:id/tests/:testId",
    { operationId: "apiReadConnectionTest", summary: "Get a test sign-in, and what came back" },
    ({ orgId, params, id }) =>
      findConnectionTest(deps.database.query, { orgId, connectionId: idOf(params), id }, deps.clock()),
  );
}
