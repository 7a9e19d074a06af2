/** Who can lock whom out of a device-bound session: by wrong proofs of the same network, nobody. */
import { bindingProof, ecKey, offerOf } from "../fakes/bound-browser.ts";
import { testBrowser } from "../fakes/browser.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import { visit } from "../fixtures/visit.ts";
import type { Play } from "./email-code-limits.ts";
import { cameFrom, type Outcome, outcomeOf } from "./limited-attempts.ts";

async function bind({ org }: LimitsWorld, challenge: string, network: string): Promise<Outcome> {
  const proof = await bindingProof(ecKey(), challenge, { withKey: true });
  const headers = { "secure-session-response": proof, ...cameFrom(network) };
  const answer = await testBrowser().post(`${org.issuer}/device-bound-session`, {}, headers);
  return outcomeOf(answer, answer.status === 200);
}

const wrongProofs = async (world: LimitsWorld): ReturnType<Play> => {
  const { user } = await world.newUser();
  const [here, elsewhere] = [world.newNetwork(), world.newNetwork()];
  const offered = async () => {
    const browser = testBrowser();
    const { hidden } = await visit(browser, world.org);
    const form = { ...hidden, email: user.email, password: user.password };
    const page = await browser.post(`${world.org.issuer}/login`, form, cameFrom(elsewhere));
    return offerOf(page)?.challenge ?? "none";
  };
  return {
    fill: () => bind(world, "nonsense", here),
    hurt: {},
    letIn: { "a browser of the network": async () => bind(world, await offered(), here) },
  };
};

export const boundSessionPlays = { "bound-session-address": wrongProofs };
