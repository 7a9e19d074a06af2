// Every operation of the JSON APIs: success, unauthenticated, another organisation's record, without permission,
// malformed. A new route fails here until it has a test case.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { after, before, test } from "node:test";
import type { AuditAction } from "../core/audit/actions.ts";
import type { OpenApiDocument } from "../features/api-reference/openapi.ts";
import { openApiPaths } from "../features/api-reference/parameters.ts";
import { setCertificateSource } from "../http/listeners/client-certificate.ts";
import type { ApiCase, ApiCases, ApiWorld } from "../testing/api-operations/api-operation.ts";
import { apiOperatorCases } from "../testing/api-operations/api-operators.ts";
import { apiV1AllCases } from "../testing/api-operations/api-v1-cases.ts";
import { deviceAdminCases } from "../testing/api-operations/device-admin.ts";
import { deviceCases } from "../testing/api-operations/devices.ts";
import { legacyHolderCases } from "../testing/api-operations/legacy-holders.ts";
import { legacySignedCases } from "../testing/api-operations/legacy-signed.ts";
import { managementCases } from "../testing/api-operations/management.ts";
import { managementDetailCases } from "../testing/api-operations/management-details.ts";
import { managementInitialAccessTokenCases } from "../testing/api-operations/management-initial-access-tokens.ts";
import { managementTokenExchangeCases } from "../testing/api-operations/management-token-exchange.ts";
import { managementTrustCases } from "../testing/api-operations/management-trusts.ts";
import { sessionKeyCases } from "../testing/api-operations/session-keys.ts";
import { sovereignCases } from "../testing/api-operations/sovereign.ts";
import { systemAccountCases } from "../testing/api-operations/system-accounts.ts";
import { usersGetCases } from "../testing/api-operations/users-get.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { makeSystemAccount } from "../testing/fixtures/system-account.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { type RecordedAnswer, recordAnswers } from "../testing/probes/answer-recorder.ts";
import { type CheckedResponse, responseChecker } from "../testing/probes/described-answers.ts";
import { makeOrganisation, startTestService, type TestService } from "../testing/test-service.ts";

const cases: ApiCases = {
  ...managementCases,
  ...managementDetailCases,
  ...managementInitialAccessTokenCases,
  ...managementTokenExchangeCases,
  ...managementTrustCases,
  ...systemAccountCases,
  ...sessionKeyCases,
  ...usersGetCases,
  ...legacyHolderCases,
  ...legacySignedCases,
  ...sovereignCases,
  ...deviceAdminCases,
  ...apiV1AllCases,
  ...apiOperatorCases,
  // Last: they let months go by.
  ...deviceCases,
};

const KINDS = [
  "happy",
  "unauthenticated",
  "foreign",
  "forbidden",
  "malformed",
] as const satisfies readonly (keyof ApiCase)[];
const JSON_INTERFACES =
  /^\/legacy\/|^\/api\/v1\/|^\/oauth\/:org\/(sovereign\/admin|devices)\/|^\/devices\/manage\//;
/** What asks a person before it happens, the lists' parts and the part of a page that waits for a device: for browsers alone. */
const OF_PAGES = [
  "GET /devices/manage/:org/:id",
  "GET /devices/manage/:org/:id/activity",
  "GET /devices/manage/:org/:id/certificates",
  "GET /devices/manage/:org/:id/revoke",
  "GET /devices/manage/:org/codes",
  "GET /devices/manage/:org/codes/:id/withdraw",
  "GET /devices/manage/:org/codes/:id/waiting",
  ...["/devices/manage/:org", "/devices/manage/:org/codes"].flatMap((list) => [
    `GET ${list}/bulk`,
    `POST ${list}/bulk`,
    `GET ${list}/export`,
  ]),
];
const routes = (await listRoutes()).filter(
  ({ method, path }) =>
    JSON_INTERFACES.test(path) && method !== "HEAD" && !OF_PAGES.includes(`${method} ${path}`),
);

/** Longer than any operation takes: who waits for what never comes is told so by name. */
const ANSWERED_MS = 60_000;

/** In the place of the listeners for certificates: a header that says what was proven. */
function showCertificates(server: Server): void {
  server.prependListener("request", (request) => {
    const shown = request.headers["x-test-certificate"];
    if (typeof shown === "string") {
      const leaf = () => Buffer.from(shown, "base64");
      setCertificateSource(request, { leaf, chain: () => [] });
    }
  });
}

/** While it is on, every POST has an `Idempotency-Key`, whoever sends it. */
function nameRequests(server: Server): { isOn: boolean } {
  const naming = { isOn: false };
  server.prependListener("request", (request) => {
    if (naming.isOn && request.method === "POST") request.headers["idempotency-key"] = randomUUID();
  });
  return naming;
}

test("every operation has a test case", () => {
  assert.deepEqual(Object.keys(cases).sort(), routes.map(({ method, path }) => `${method} ${path}`).sort());
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let world: ApiWorld;
  let naming: { isOn: boolean };
  let document: OpenApiDocument;
  let judge: ReturnType<typeof responseChecker>;
  let answers: RecordedAnswer[];
  const judged: CheckedResponse[] = [];
  /** The first answer that is not what /openapi.json says of it. */
  const faults = () => {
    const news = answers.splice(0).flatMap((answer) => judge(answer) ?? []);
    judged.push(...news);
    return news.flatMap(({ fault }) => fault ?? []);
  };
  before(async () => {
    const clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    const { service, baseUrl } = running;
    document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApiDocument;
    judge = responseChecker(document);
    answers = recordAnswers(running.app.server);
    showCertificates(running.app.server);
    naming = nameRequests(running.app.server);
    const [a, b] = [await makeOrganisation(service, "A"), await makeOrganisation(service, "B")];
    world = {
      service,
      baseUrl,
      clock,
      a,
      b,
      administratorOfA: await makeSystemAccount(service, a, { administrator: true }),
      administratorOfB: await makeSystemAccount(service, b, { administrator: true }),
      plainOfA: await makeSystemAccount(service, a),
      plainOfB: await makeSystemAccount(service, b),
    };
  });
  after(() => running.close());

  const keptAnswers = async () => {
    const { query } = running.service.database;
    const rows = await query.selectFrom("idempotency_key").select("status").execute();
    return rows.filter(({ status }) => status !== null).length;
  };
  const takesTheHeader = (path: string) =>
    openApiPaths(path).some((one) =>
      document.paths[one]?.["post"]?.parameters?.some(({ name }) => name === "Idempotency-Key"),
    );

  for (const [route, row] of Object.entries(cases)) {
    for (const kind of KINDS) {
      const tried = row[kind];
      if (typeof tried !== "function") {
        test(`${route}: no case for ${kind}, because ${tried.none}`, () => assert.ok(tried.none.length > 10));
        continue;
      }
      test(`${route}: ${kind}`, async () => {
        await tried(world);
        assert.deepEqual(running.errors, []);
        assert.deepEqual(faults(), []);
      });
    }
    const [method = "", path = ""] = route.split(" ");
    if (method !== "POST") continue;
    // With the header everything runs in the transaction that keeps the answer: a statement beside it would wait for ever.
    test(`${route}: with an Idempotency-Key`, { timeout: ANSWERED_MS }, async () => {
      const before = await keptAnswers();
      naming.isOn = true;
      try {
        await row.happy(world);
      } finally {
        naming.isOn = false;
      }
      assert.deepEqual(running.errors, []);
      assert.deepEqual(faults(), []);
      if (takesTheHeader(path)) assert.ok((await keptAnswers()) > before, "its answer was kept");
    });
  }

  test("every documented operation was tested with success and, where possible, an error", async () => {
    for (const { method, path } of routes) {
      const ids = openApiPaths(path).map((one) => document.paths[one]?.[method.toLowerCase()]?.operationId);
      const statuses = judged
        .filter(({ operationId }) => ids.includes(operationId))
        .map(({ status }) => status);
      assert.ok(
        statuses.some((status) => status < 300),
        `${method} ${path}`,
      );
      assert.ok(
        statuses.some((status) => status >= 400),
        `${method} ${path}`,
      );
    }
  });

  test("every operation is audited as the right event", async () => {
    const { query } = running.service.database;
    const rows = await query
      .selectFrom("audit_event")
      .select("action")
      .distinct()
      .where("org_id", "=", world.a.organisation.id)
      .execute();
    assert.deepEqual(rows.map(({ action }) => action).sort(), acts);
  });
});

/** What the operations do at organisation A. */
const acts: readonly AuditAction[] = [
  "application.changed",
  "application.created",
  "application.deleted",
  "application.group-assigned",
  "application.group-unassigned",
  "application.user-assigned",
  "application.user-unassigned",
  "audit.exported",
  "authorization-detail-type.changed",
  "authorization-detail-type.created",
  "authorization-detail-type.deleted",
  "break-glass.granted",
  "break-glass.withdrawn",
  "client-authority.changed",
  "client-authority.created",
  "client-authority.deleted",
  "client-policy.changed",
  "client-secret.created",
  "client-secret.revoked",
  "connection.changed",
  "connection.created",
  "connection.deleted",
  "connection.token-created",
  "connection.token-revoked",
  "consent.granted",
  "consent.granted-for-organisation",
  "consent.granted-for-user",
  "consent.revoked",
  "device-attestation.refused",
  "device-ca.created",
  "device-ca.rotated",
  "device-ek.allowed",
  "device-ek.removed",
  "device-root.imported",
  "device-root.removed",
  "device.enrolled",
  "device.renewed",
  "device.revoked",
  "domain.created",
  "domain.deleted",
  "email-change.requested",
  "email.verified",
  "enrollment-code.created",
  "enrollment-code.withdrawn",
  "event-stream.changed",
  "event-stream.created",
  "event-stream.deleted",
  "grant.revoked",
  "group.changed",
  "group.created",
  "group.deleted",
  "group.handed-over",
  "group.members-changed",
  "identity.unlinked",
  "initial-access-token.changed",
  "initial-access-token.created",
  "initial-access-token.deleted",
  "invitation.withdrawn",
  "ledger-witness.created",
  "ledger-witness.deleted",
  "organisation.changed",
  "organisation.configuration-applied",
  "organisation.created",
  "password-reset.requested",
  "password.reset",
  "portal-link.created",
  "portal-link.deleted",
  "preauthorization.created",
  "preauthorization.deleted",
  "registration.requested",
  "resource.changed",
  "resource.created",
  "resource.deleted",
  "roaming.requested",
  "role.assigned",
  "role.changed",
  "role.created",
  "role.deleted",
  "role.unassigned",
  "scope.changed",
  "scope.created",
  "scope.deleted",
  "second-factors.reset",
  "session-key.issued",
  "session-key.revoked",
  "session.started",
  "shared-application.enabled",
  "shared-application.withdrawn",
  "sign-up.approved",
  "sign-up.rejected",
  "signing-agent.compromised",
  "signing-agent.deactivated",
  "signing-agent.key-retired",
  "signing-agent.keys-added",
  "signing-agent.registered",
  "signing-key.rotated",
  "signing-pool.changed",
  "signing-pool.created",
  "signing-pool.deleted",
  "system-account.changed",
  "system-account.created",
  "system-account.deleted",
  "system-account.key-created",
  "system-account.key-revoked",
  "system-account.permission-granted",
  "system-account.permission-withdrawn",
  "system-account.refused",
  "token-exchange-policy.changed",
  "token-exchange-policy.created",
  "token-exchange-policy.deleted",
  "trust.changed",
  "trust.created",
  "trust.deleted",
  "user-settings.changed",
  "user.created",
  "user.deleted",
  "user.disabled",
  "user.invited",
  "user.profile-changed",
  "user.registered",
  "user.session-ended",
  "user.signed-out-everywhere",
  "webhook.changed",
  "webhook.created",
  "webhook.deleted",
  "webhook.replayed",
  "webhook.tested",
];
