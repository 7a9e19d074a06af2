/** Who the limits of pushed and CIBA requests refuse, and whom they let in: of invariants/limits.test.ts. */
import type { RateLimitName } from "../../core/rate-limits/rate-limits.ts";
import { makePool } from "../fixtures/agent.ts";
import { makeCibaClient } from "../fixtures/ciba.ts";
import { credentials } from "../fixtures/client.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import { makeClient, REDIRECT_URI } from "../test-service.ts";
import type { Play } from "./email-code-limits.ts";
import { askForApproval, askForSignedError, pushRequest, signIn } from "./limited-attempts.ts";

const newCibaClient = ({ running: { service }, org }: LimitsWorld) => makeCibaClient(service, org);

export const clientPlays = {
  "par-address": async (world) => {
    const { native, web } = world.org;
    const here = world.newNetwork();
    return {
      fill: () => pushRequest(world, { client_id: native.id }, here),
      hurt: { "people of the network": () => pushRequest(world, { client_id: native.id }, here) },
      letIn: {
        "from another network": () => pushRequest(world, { client_id: native.id }, world.newNetwork()),
        "clients that authenticate": () => pushRequest(world, credentials(web), here),
      },
    };
  },
  "signed-error-address": async (world) => {
    const { service } = world.running;
    const pool = await makePool(service, world.org);
    const redirectUris = [REDIRECT_URI];
    const client = await makeClient(service, world.org.organisation, {
      redirectUris,
      signingPoolId: pool.id,
    });
    const here = world.newNetwork();
    return {
      fill: () => askForSignedError(world, client, here),
      hurt: { "refused requests of the network": () => askForSignedError(world, client, here) },
      letIn: { "from another network": () => askForSignedError(world, client, world.newNetwork()) },
    };
  },
  "ciba-client": async (world) => {
    const [client, other] = [await newCibaClient(world), await newCibaClient(world)];
    const [one, another] = [await world.newUser(), await world.newUser()];
    return {
      // Nobody: whoever tries addresses out is counted too.
      fill: () => askForApproval(world, client, world.newEmail()),
      hurt: { "users of the client": () => askForApproval(world, client, one.user.email) },
      letIn: { "of another client": () => askForApproval(world, other, another.user.email) },
    };
  },
  "ciba-client-user": async (world) => {
    const [client, other] = [await newCibaClient(world), await newCibaClient(world)];
    const [asked, neighbour] = [await world.newUser(), await world.newUser()];
    return {
      fill: () => askForApproval(world, client, asked.user.email),
      hurt: { "the user, by the same client": () => askForApproval(world, client, asked.user.email) },
      letIn: {
        "the user, by another client": () => askForApproval(world, other, asked.user.email),
        "another user, by the same client": () => askForApproval(world, client, neighbour.user.email),
        "the user, on the sign-in page": () => signIn(world, asked.user, world.newNetwork()),
      },
    };
  },
  "ciba-user": async (world) => {
    const [asked, neighbour] = [await world.newUser(), await world.newUser()];
    return {
      fill: async () => askForApproval(world, await newCibaClient(world), asked.user.email),
      hurt: {
        "the user, by every client": async () =>
          askForApproval(world, await newCibaClient(world), asked.user.email),
      },
      letIn: {
        "another user": async () => askForApproval(world, await newCibaClient(world), neighbour.user.email),
      },
    };
  },
} satisfies Partial<Record<RateLimitName, Play>>;
