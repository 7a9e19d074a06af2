/** Who can lock whom out of clients that nobody registers by hand: by wrong tokens for registration, by invented documents. */
import { setClientPolicy } from "../../core/client-metadata/client-policies.ts";
import { wholePolicy } from "../../core/client-metadata/client-policy.ts";
import { initialAccessTokenSettings } from "../../core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../core/client-registration/initial-access-tokens.ts";
import { authorizationRequest } from "../fakes/browser.ts";
import { postJson } from "../fixtures/client.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import { REDIRECT_URI } from "../test-service.ts";
import type { Play } from "./email-code-limits.ts";
import { cameFrom, type Outcome, outcomeOf } from "./limited-attempts.ts";

async function registerAsClient({ org }: LimitsWorld, token: string, network: string): Promise<Outcome> {
  const headers = { authorization: `Bearer ${token}`, ...cameFrom(network) };
  const answer = await postJson(`${org.issuer}/register`, { redirect_uris: ["https://a.example/"] }, headers);
  return outcomeOf(answer, answer.status === 201);
}

const registrationTokenPlay = async (world: LimitsWorld): ReturnType<Play> => {
  const here = world.newNetwork();
  const { service } = world.running;
  const { id: orgId } = world.org.organisation;
  const settings = initialAccessTokenSettings(
    { maxUses: 100 },
    { now: service.clock(), readTime: () => undefined },
  );
  const right = await createInitialAccessToken(service, { orgId, actor: "test", settings });
  return {
    fill: () => registerAsClient(world, `sgn_it_${"x".repeat(43)}`, here),
    hurt: {},
    letIn: { "a client of the network": () => registerAsClient(world, right.token, here) },
  };
};

/** Its address is never called: names of this machine are refused, and count. */
async function beginAtClient({ org }: LimitsWorld, clientId: string, network: string): Promise<Outcome> {
  const { parameters } = authorizationRequest(clientId, REDIRECT_URI);
  const url = `${org.issuer}/authorize?${new URLSearchParams(parameters)}`;
  const answer = await fetch(url, { headers: cameFrom(network), redirect: "manual" });
  await answer.text();
  return outcomeOf(answer, answer.status <= 400);
}

const clientDocumentPlay = async (world: LimitsWorld): ReturnType<Play> => {
  const { service } = world.running;
  const { id: orgId } = world.org.organisation;
  await setClientPolicy(service, { orgId, actor: "test", content: wholePolicy({ mode: "any" }) });
  const here = world.newNetwork();
  const invented = () => `https://localhost/${crypto.randomUUID()}.json`;
  return {
    fill: () => beginAtClient(world, invented(), here),
    hurt: { "new clients of the network": () => beginAtClient(world, invented(), here) },
    letIn: {
      "from another network": () => beginAtClient(world, invented(), world.newNetwork()),
      "registered clients": () => beginAtClient(world, world.org.web.application.id, here),
    },
  };
};

export const unregisteredClientPlays = {
  "registration-token-address": registrationTokenPlay,
  "client-document-address": clientDocumentPlay,
};
