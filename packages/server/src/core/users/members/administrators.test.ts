// Who is told what administrators have to know: also those who sign in by a passkey or a connection, and have no password.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";
import { setUserDisabled } from "../account.store.ts";
import type { Role } from "../user.ts";
import { insertUser } from "../users.store.ts";
import { newPermId } from "../users.ts";
import { listActiveAdministrators, reachableAdministrators } from "./administrators.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let orgId: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    orgId = (await makeOrganisation(running.service)).organisation.id;
  });
  after(() => running.close());

  test("whoever has proven their address, and is not disabled; oldest first, to a limit", async () => {
    const { query } = running.service.database;
    let now = 1;
    const insert = async (
      email: string,
      {
        passwordHash = null,
        emailVerifiedAt = null,
        role = "Administrator" as Role,
      }: {
        passwordHash?: string | null;
        emailVerifiedAt?: number | null;
        role?: Role;
      },
    ) => {
      const id = newPermId();
      now += 1;
      const names = { firstname: "A", surname: "B", phone: null, locale: null };
      const account = { orgId, id, email, emailKey: email, emailVerifiedAt, passwordHash, now };
      assert.ok(await insertUser(query, { ...account, ...names, role }));
      return id;
    };
    const passkey = await insert("passkey@acme.example", { emailVerifiedAt: 1 });
    const password = await insert("password@acme.example", { passwordHash: "x" });
    await insert("invited@acme.example", {});
    await insert("standard@acme.example", { emailVerifiedAt: 1, role: "Standard" });
    const disabled = await insert("disabled@acme.example", { emailVerifiedAt: 1 });
    await setUserDisabled(query, { orgId, id: disabled }, 5, 5);
    const reached = async (limit?: number) =>
      (await Array.fromAsync(reachableAdministrators(query, orgId, limit))).map(({ id }) => id);
    assert.deepEqual(await reached(), [passkey, password]);
    assert.deepEqual(await reached(1), [passkey]);
    const active = await listActiveAdministrators(query, orgId, { limit: 9 });
    assert.deepEqual(
      active.map(({ id }) => id),
      [password],
    );
  });
});
