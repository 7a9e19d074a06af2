import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import type { Change, ChangeFeed } from "../../db/change-feed.ts";
import { asAnotherRequest } from "../../db/transaction-scope.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import {
  actor,
  applicationIn,
  type TestConfiguration,
  testConfiguration,
  withApplication,
  withoutIds,
} from "../../testing/fixtures/configuration.ts";
import { furnishedOrganisation } from "../../testing/fixtures/furnished-organisation.ts";
import { isStatementBlocked } from "../../testing/probes/blocked-statements.ts";
import { listApplications } from "../applications/applications.store.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { changeOrganisationSettings } from "../organisations/organisations.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { insertCustomScope } from "../scopes/scopes.store.ts";
import { applyFile, ConfigurationChanged } from "./apply.ts";
import { countsOf } from "./entries.ts";
import { type FileApplication, InvalidFile, type OrganisationFile } from "./organisation-file.ts";

/** For organisations without the scopes of the file's. */
const withoutCustomScopes = ({ applications = [] }: OrganisationFile): FileApplication[] =>
  applications.map((one) => ({
    ...one,
    allowedScopes: ["openid"],
    organisationConsent: [],
    preauthorizations: [],
  }));

forEachDatabase(({ fresh }) => {
  let running: TestConfiguration;
  before(async () => {
    running = await testConfiguration(await fresh());
  });
  after(() => running.close());
  const furnished = () => furnishedOrganisation(running.deps);

  test("a failure rolls everything back", async () => {
    const [from, to] = [await furnished(), await running.makeOrg()];
    const { file } = await running.exported(from);
    const { file: old } = await running.exported(to);
    await running.apply(to, {
      ...old,
      scopes: [{ name: "old" }],
      applications: [{ name: "Old", clientType: "spa" }],
    });
    const shown = await running.shownOf(to, file, true);
    const before = await running.dump(to);
    // Fails at the first notice, then at the second, and so on, until there is none to fail at.
    for (let fatal = 1; ; fatal++) {
      let told = 0;
      const failing: ChangeFeed = {
        ...running.deps.changes,
        publish: async (db, change) => {
          if (++told === fatal) throw new Error("the disk is full");
          await running.deps.changes.publish(db, change);
        },
      };
      const attempt = applyFile(
        { ...running.deps, changes: failing },
        { orgId: to, file, prune: true, shown, actor },
      );
      if (
        await attempt.then(
          () => true,
          (error: Error) => void assert.match(error.message, /disk is full/),
        )
      ) {
        assert.ok(fatal > 8, `there were ${told} notices`);
        break;
      }
      assert.equal(await running.dump(to), before, `failed at notice ${fatal}`);
    }
    assert.equal(
      withoutIds((await running.exported(to)).text),
      withoutIds((await running.exported(from)).text),
    );
  });

  test("rejects a file whose difference has changed since it was shown", async () => {
    const orgId = await furnished();
    const { file } = await running.exported(orgId);
    const wanted = withApplication(file, "Shop", { audience: "https://new.example" });
    const shown = await running.shownOf(orgId, wanted);
    await changeOrganisationSettings(running.deps, {
      orgId,
      settings: { passwordMinLength: 20 },
      actor: "user:x",
    });
    const before = await running.dump(orgId);
    await assert.rejects(
      applyFile(running.deps, { orgId, file: wanted, prune: false, shown, actor }),
      ConfigurationChanged,
    );
    assert.equal(await running.dump(orgId), before);
  });

  test("concurrent applications of a file create nothing twice", async () => {
    const [from, to] = [await furnished(), await running.makeOrg()];
    const { file: whole } = await running.exported(from);
    // Of names alone: nothing in the database would keep a second one out.
    const file = { format: whole.format, applications: withoutCustomScopes(whole) };
    const shown = await running.shownOf(to, file);
    const applying = { orgId: to, file, prune: false, shown, actor };
    let second: Promise<unknown> | undefined;
    const slow: ChangeFeed = {
      ...running.deps.changes,
      // In the middle of the first, which the second waits for.
      publish: async (db, change) => {
        if (!second) {
          second = asAnotherRequest(() => applyFile(running.deps, applying));
          second.catch(() => {});
          const { kind, query } = running.deps.database;
          if (kind === "postgres") await eventually("the second waits", () => isStatementBlocked(query));
        }
        await running.deps.changes.publish(db, change);
      },
    };
    await applyFile({ ...running.deps, changes: slow }, applying);
    await assert.rejects(second ?? Promise.resolve(), ConfigurationChanged);
    assert.equal((await listApplications(running.deps.database.query, to, { limit: 9 })).length, 3);
  });

  test("rejects too many scopes before any change", async () => {
    const orgId = await furnished();
    const scopes = Array.from({ length: 99 }, (_, index) => ({ name: `s${index}` }));
    await assert.rejects(running.shownOf(orgId, { format: "signet-organisation/1", scopes }), (error) => {
      assert.ok(error instanceof InvalidFile);
      assert.deepEqual(
        error.faults.map(({ path }) => path),
        ["/scopes"],
      );
      return true;
    });
    // When the others go, there is room.
    assert.deepEqual(
      countsOf(await running.shownOf(orgId, { format: "signet-organisation/1", scopes }, true)).created,
      99,
    );
  });

  test("a scope named address stays where it is older than the standard scope, and is refused elsewhere", async () => {
    const orgId = await furnished();
    const file: OrganisationFile = {
      format: "signet-organisation/1",
      scopes: [{ name: "address", displayName: "Home" }],
    };
    await assert.rejects(running.shownOf(orgId, file), (error) => {
      assert.ok(error instanceof InvalidFile);
      assert.deepEqual(error.faults, [{ path: "/scopes/0/name", message: "is a standard scope" }]);
      return true;
    });
    const older: CustomScope = {
      ...{ orgId, id: newUuid(), name: "address", displayName: "Where you live", description: "" },
      ...{ claims: [], sensitive: false, resourceId: null, createdAt: 1, updatedAt: 1, version: 1 },
    };
    assert.ok(await insertCustomScope(running.deps.database.query, older));
    await running.apply(orgId, file);
    const { scopes = [] } = (await running.exported(orgId)).file;
    assert.equal(scopes.find(({ name }) => name === "address")?.displayName, "Home");
  });

  test("doesn't touch other organisations, whatever ids the file contains", async () => {
    const [mine, theirs] = [await running.makeOrg(), await furnished()];
    const { file } = await running.exported(theirs);
    const before = await running.dump(theirs);
    const hostile = {
      ...withApplication(file, "Shop", { redirectUris: ["https://evil.example/"] }),
      scopes: [],
      applications: withoutCustomScopes(file).map((one) =>
        one.name === "Shop" ? { ...one, redirectUris: ["https://evil.example/"] } : one,
      ),
    };
    const done = await running.apply(
      mine,
      { ...hostile, applications: hostile.applications?.filter(({ name }) => name === "Shop") ?? [] },
      true,
    );
    assert.ok(done.includes("created application Shop"));
    assert.equal(await running.dump(theirs), before);
    const [made] = await listApplications(running.deps.database.query, mine, { limit: 9 });
    assert.notEqual(made?.id, applicationIn(file, "Shop").id);
    // Neither a key nor a scope of theirs is found.
    await running.apply(theirs, withApplication(file, "Shop", { externalKey: "shop" }));
    const told = await listAuditEvents(running.deps.database.query, theirs, 3);
    assert.ok(told.some(({ action }) => action === "application.key-changed"));
    const alone = {
      format: file.format,
      applications: [{ name: "Other", clientType: "spa", externalKey: "shop" } as const],
    };
    assert.ok((await running.apply(mine, alone)).includes("created application Other"));
  });

  test("audits every change and notifies every node", async () => {
    const [from, to] = [await furnished(), await running.makeOrg()];
    const { file } = await running.exported(from);
    const heard: Array<Change | "everything"> = [];
    running.deps.changes.subscribe((change) => heard.push(change));
    await running.apply(to, file);
    const topics = new Set(
      heard.flatMap((change) => (change !== "everything" && change.orgId === to ? [change.topic] : [])),
    );
    assert.deepEqual([...topics].sort(), ["application", "organisation", "scope"]);
    const empty = {
      format: file.format,
      scopes: [],
      applications: [
        {
          ...applicationIn({ ...file, applications: withoutCustomScopes(file) }, "Shop"),
          enabled: false,
          organisationConsent: [],
          preauthorizations: [],
        },
      ],
    };
    await running.apply(to, empty, true);
    const events = (await listAuditEvents(running.deps.database.query, to, 100)).toSorted(
      (a, b) => a.at - b.at,
    );
    assert.ok(events.every(({ actor: by }) => by === actor));
    assert.deepEqual(
      events.map(({ action }) => action),
      [
        "organisation.created",
        "organisation.changed",
        "scope.created",
        "scope.created",
        "application.created",
        "application.created",
        "application.created",
        "consent.granted-for-organisation",
        "preauthorization.created",
        "preauthorization.created",
        "organisation.configuration-applied",
        "scope.deleted",
        "application.changed",
        "scope.deleted",
        "application.deleted",
        "application.deleted",
        "application.changed",
        "consent.revoked",
        "preauthorization.deleted",
        "preauthorization.deleted",
        "organisation.configuration-applied",
      ],
    );
    assert.deepEqual(events.at(-1)?.details, { created: 0, changed: 1, removed: 7, prune: true });
  });
});
