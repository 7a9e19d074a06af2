/** Who can lock whom out by wrong tokens for the registration of clients. */
import { initialAccessTokenSettings } from "../../core/client-registration/initial-access-token-schemas.ts";
import { createInitialAccessToken } from "../../core/client-registration/initial-access-tokens.ts";
import { postJson } from "../fixtures/client.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import type { Play } from "./email-code-limits.ts";
import { cameFrom, type Outcome, outcomeOf } from "./limited-attempts.ts";

async function registerAsClient({ org }: LimitsWorld, token: string, network: string): Promise<Outcome> {
  const headers = { authorization: `Bearer ${token}`, ...cameFrom(network) };
  const answer = await postJson(`${org.issuer}/register`, { redirect_uris: ["https://a.example/"] }, headers);
  return outcomeOf(answer, answer.status === 201);
}

export const registrationTokenPlay = async (world: LimitsWorld): ReturnType<Play> => {
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
