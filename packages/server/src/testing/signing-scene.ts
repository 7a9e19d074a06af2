/** A signing stage with two agents for the tests of a suite. */
import { after, before } from "node:test";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { openSigningStage, type SigningStage, type SoftAgent } from "./signing-stage.ts";
import { type SigningSteps, signingSteps } from "./signing-steps.ts";

export interface SigningScene {
  readonly clock: FakeClock;
  readonly stage: SigningStage;
  readonly agent: SoftAgent;
  readonly other: SoftAgent;
  /** Of `agent`, where no other is named. */
  readonly steps: SigningSteps;
}

/**
 * Registers the hooks of the suite that it is called in: its parts are there from the suite's first test to its last.
 * @param fresh gives the address of an empty database
 */
export function signingScene(fresh: () => Promise<string>): SigningScene {
  const clock = fakeClock();
  const stage = {} as SigningStage;
  const [agent, other] = [{} as SoftAgent, {} as SoftAgent];
  const steps = {} as SigningSteps;
  before(async () => {
    // Suites before this one have taken their time.
    clock.advance(Date.now() - clock());
    Object.assign(stage, await openSigningStage({ databaseUrl: await fresh(), clock }));
    for (const one of [agent, other]) Object.assign(one, await stage.addAgent());
    Object.assign(steps, signingSteps(stage, agent));
  });
  after(() => stage.close());
  return { clock, stage, agent, other, steps };
}
