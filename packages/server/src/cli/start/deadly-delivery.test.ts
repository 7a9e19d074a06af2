/** A delivery that ends the process: its attempt is counted before it is made, so that it does not end every restart. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { guardProcess } from "../../../../../e2e/support/process-guard.ts";
import { openDatabase } from "../../db/open.ts";
import { type Environment, runForJson, startProgram } from "../../testing/command-line.ts";
import { eventually } from "../../testing/eventually.ts";
import { type LogoutReceiver, startLogoutReceiver } from "../../testing/fakes/logout-receiver.ts";
import { freePort } from "../../testing/free-port.ts";
import { type StartedProgram, startSignet } from "../../testing/started-program.ts";

const deadly = path.join(import.meta.dirname, "..", "..", "testing", "fakes", "deadly-connects.ts");

let folder: string;
let env: Environment;
let receiver: LogoutReceiver;
let port: number;
let running: StartedProgram | undefined;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-deadly-"));
  env = { SIGNET_DATA_DIR: folder, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
  receiver = await startLogoutReceiver();
  port = await freePort();
});
after(async () => {
  running?.kill();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

async function withRows<T>(work: (db: ReturnType<typeof openDatabase>["query"]) => Promise<T>): Promise<T> {
  const database = openDatabase(`sqlite:${path.join(folder, "signet.db")}`);
  try {
    return await work(database.query);
  } finally {
    await database.close();
  }
}

test("a delivery that kills the process is not tried again by the restart, which delivers the others", async () => {
  const { id: org } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
  /** A logout that is due, to a new application with this address. */
  const queueLogout = async (uri: string) => {
    const options = ["--name", "Shop", "--type", "confidential", "--redirect-uri", "https://shop.example/cb"];
    const made = await runForJson<{ clientId: string }>(
      ["app", "create", "--org", org, ...options, "--backchannel-logout-uri", uri],
      env,
    );
    const id = randomUUID();
    const row = {
      org_id: org,
      id,
      application_id: made.clientId,
      user_id: randomUUID(),
      session_id: randomUUID(),
    };
    const state = { attempts: 0, next_attempt_at: 0, created_at: Date.now() };
    const open = { delivered_at: null, failed_at: null, last_error: null };
    await withRows((db) =>
      db
        .insertInto("logout_delivery")
        .values({ ...row, ...state, ...open })
        .execute(),
    );
    return id;
  };
  const rowOf = (id: string) =>
    withRows((db) =>
      db.selectFrom("logout_delivery").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    );

  const killing = await queueLogout(`http://127.0.0.1:${port}/logout`);
  const preload = {
    NODE_OPTIONS: `--import=${pathToFileURL(deadly)}`,
    SIGNET_TEST_DEADLY_PORT: String(port),
  };
  const began = Date.now();
  const killed = startProgram(["start"], { ...env, ...preload, PORT: String(await freePort()) });
  guardProcess(killed);
  assert.deepEqual(await once(killed, "exit"), [null, "SIGKILL"]);
  const { attempts, next_attempt_at } = await rowOf(killing);
  assert.equal(attempts, 1);
  assert.ok(next_attempt_at >= began + 15_000);

  // A slow machine must not let it be due again during the test.
  const later = { next_attempt_at: next_attempt_at + 3_600_000 };
  await withRows((db) => db.updateTable("logout_delivery").set(later).where("id", "=", killing).execute());
  await queueLogout(receiver.uri("/logout"));
  running = await startSignet([], { ...env, ...preload });
  await eventually("the other logout is delivered", () => receiver.at("/logout").length === 1);
  assert.equal((await rowOf(killing)).attempts, 1);
  assert.equal((await running.stop()).code, 0);
});
