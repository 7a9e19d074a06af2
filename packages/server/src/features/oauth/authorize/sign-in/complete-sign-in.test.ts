import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FactorProof } from "../../../../core/second-factors/second-factor.ts";
import { endSessions } from "../../../../core/sessions/end-sessions.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { findCurrentSession, signIn } from "../../../../core/sessions/sessions.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import type { Db } from "../../../../db/open.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";
import { enrolAndStepUp } from "../../../account-ui/raise-session.ts";
import type { BrowserDeps } from "../browser.ts";
import { completeSignIn } from "./complete-sign-in.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  /** A session that its user ends in the very moment in which its second factor is used. */
  async function endingSession() {
    const { service } = running;
    const { organisation } = org;
    const user = await findUser(service.database.query, organisation.id, org.user.id);
    assert.ok(user);
    const from = { address: "127.0.0.1", userAgent: "test", before: undefined };
    const signedInAs = { organisation, user, amr: ["pwd"], acr: acrValues.password, ...from };
    const { session, token } = await signIn(service, signedInAs);
    const end = (tx: Db) =>
      endSessions(tx, {
        orgId: organisation.id,
        userId: user.id,
        sessionId: session.id,
        reason: "signed_out",
        now: service.clock(),
      });
    let used = 0;
    const proof: FactorProof = {
      method: "totp",
      amr: ["otp", "mfa"],
      acr: acrValues.multiFactor,
      use: async (tx) => {
        used += 1;
        await end(tx);
        return [];
      },
    };
    const cookies: string[] = [];
    const note = () => void cookies.push("set");
    return { user, session, token, proof, cookies, note, used: () => used };
  }
  const raw = { socket: { remoteAddress: "127.0.0.1" } };
  const route = { method: "POST", url: "/", routeOptions: {} };
  const request = { ...route, raw, headers: {}, cookies: {} } as unknown as FastifyRequest;
  const reply = {} as FastifyReply;
  const living = async () => {
    const rows = await running.service.database.query
      .selectFrom("browser_session")
      .select("id")
      .where("ended_at", "is", null)
      .execute();
    return rows.map(({ id }) => id);
  };

  test("a session that ends during its step-up stays ended, and no other replaces it", async () => {
    const { user, session, token, proof, cookies, note, used } = await endingSession();
    const { organisation } = org;
    const signedIn = { session, user };
    const deps = {
      ...running.service,
      cookies: { write: note },
      recognition: { read: () => undefined, renew: () => "known" },
    } as unknown as BrowserDeps;
    const pending = {
      id: "pending",
      userId: user.id,
      authTime: session.authTime,
      amr: session.amr,
      acr: session.acr,
      passwordChangedAt: null,
      sessionId: session.id,
      flow: { orgId: organisation.id, parameters: [], startedAt: 0 },
      expiresAt: running.service.clock() + 60_000,
    };
    const visit = { organisation, request, reply };
    const waiting = { pending, request: {} as never, signedIn, before: signedIn };
    assert.equal(await completeSignIn(deps, visit, waiting, proof), "ended");
    assert.equal(used(), 1);
    assert.deepEqual(cookies, []);
    // All of it is undone, the end of the session too, which in truth was another transaction's.
    assert.deepEqual(await living(), [session.id]);
    assert.equal(
      (await findCurrentSession(running.service, organisation, token))?.session.acr,
      acrValues.password,
    );
  });

  test("a session that ends during an enrolment on the account pages stays ended", async () => {
    const { user, session, proof, cookies, note } = await endingSession();
    const { organisation } = org;
    const deps = { ...running.service, authenticator: { writeSession: note } } as unknown as Parameters<
      typeof enrolAndStepUp
    >[0];
    const before = await living();
    assert.equal(
      await enrolAndStepUp(deps, { organisation, request, reply }, { session, user }, proof),
      undefined,
    );
    assert.deepEqual(cookies, []);
    assert.deepEqual(await living(), before);
  });
});
