/**
 * A program that calls the service's API as a system account (FilterType SystemAccountExternal): every call is signed with a
 * secret key that is never sent, for one method, address, body and moment, so that nobody can send it again.
 *
 *   npm start                             # in one terminal
 *   npx node examples/backend-caller.ts   # in another
 */
import { SignetError } from "@signet/client-sdk";
import { legacyApiClient } from "@signet/client-sdk/legacy-api";
import { managementClient } from "@signet/client-sdk/management";
import { readDemo } from "./shared/demo.ts";

const demo = await readDemo();

/** The account of one application, which may ask about users. */
const program = {
  federationServer: demo.baseUrl,
  systemAccountPublicKey: demo.systemAccount.publicKey,
  systemAccountSecretKey: demo.systemAccount.secretKey,
};
/** An administrator's account, which may change the organisation's applications. */
const administration = {
  federationServer: demo.baseUrl,
  systemAccountPublicKey: demo.administratorAccount.publicKey,
  systemAccountSecretKey: demo.administratorAccount.secretKey,
};

const user = await legacyApiClient(program).users.get(demo.user.email);
console.log(`${user.Firstname} ${user.Surname}, ${user.Role}, is ${user.PermId}\n`);

const management = managementClient(administration);
console.log("Applications of the organisation:");
// Page after page, as the list is read.
for await (const { name, clientType } of management.clients.list())
  console.log(`  ${clientType.padEnd(12)}  ${name}`);

// Made, changed and removed. A call whose answer is lost is made again, and makes no second application.
const made = await management.clients.create({ name: "Made by an example", clientType: "spa" });
const changed = await management.clients.update(made.clientId, (client) => ({
  ...client,
  description: "Not for long",
}));
await management.clients.delete(made.clientId);
console.log(`\nMade "${changed.name}", described it as "${changed.description}", and removed it.\n`);

/** What is refused says so by a code, for programs, and in words. */
async function refusal(what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
    throw new Error(`${what}: it was not refused`);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    console.log(`${what}: ${error.problem?.status} ${error.problem?.code}`);
  }
}

await refusal("Somebody who is not there", () => legacyApiClient(program).users.get("nobody@demo.example"));
await refusal("Administration by the program's account", () =>
  managementClient(program).clients.list().page(),
);
const wrong = { ...program, systemAccountSecretKey: administration.systemAccountSecretKey };
await refusal("A signature with another key", () => legacyApiClient(wrong).users.get(demo.user.email));
