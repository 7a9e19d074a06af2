/**
 * A program that calls the service's API as a system account (FilterType SystemAccountExternal): every call is signed with a
 * secret key that is never sent. The signature covers method, URL, body and time, and can't be replayed.
 *
 *   npm start                             # in one terminal
 *   npx node examples/backend-caller.ts   # in another
 */
import { SignetError } from "@signet/client-sdk";
import { legacyApiClient } from "@signet/client-sdk/legacy-api";
import { managementClient } from "@signet/client-sdk/management";
import { readDemo } from "./shared/demo.ts";

const demo = await readDemo();

/** An application's account, which may look up users. */
const program = {
  federationServer: demo.baseUrl,
  systemAccountPublicKey: demo.systemAccount.publicKey,
  systemAccountSecretKey: demo.systemAccount.secretKey,
};
/** An administrator's account, which may manage the organisation's applications. */
const administration = {
  federationServer: demo.baseUrl,
  systemAccountPublicKey: demo.administratorAccount.publicKey,
  systemAccountSecretKey: demo.administratorAccount.secretKey,
};

const user = await legacyApiClient(program).users.get(demo.user.email);
console.log(`${user.Firstname} ${user.Surname}, ${user.Role}, is ${user.PermId}\n`);

const management = managementClient(administration);
console.log("Applications of the organisation:");
// Pages are requested as the list is read.
for await (const { name, clientType } of management.clients.list())
  console.log(`  ${clientType.padEnd(12)}  ${name}`);

// Calls are idempotent: a retry after a lost response creates no second application.
const created = await management.clients.create({ name: "Created by an example", clientType: "spa" });
const changed = await management.clients.update(created.clientId, (client) => ({
  ...client,
  description: "Temporary",
}));
await management.clients.delete(created.clientId);
console.log(`\nCreated "${changed.name}", described it as "${changed.description}", and deleted it.\n`);

/** Prints the status and code of a refused call. */
async function showRefusal(what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
    throw new Error(`${what}: not refused`);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    console.log(`${what}: ${error.problem?.status} ${error.problem?.code}`);
  }
}

await showRefusal("Unknown user", () => legacyApiClient(program).users.get("nobody@demo.example"));
await showRefusal("Management API with the application's account", () =>
  managementClient(program).clients.list().page(),
);
const wrong = { ...program, systemAccountSecretKey: administration.systemAccountSecretKey };
await showRefusal("Signature with another key", () => legacyApiClient(wrong).users.get(demo.user.email));
