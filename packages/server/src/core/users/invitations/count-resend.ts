/** Five emails an hour to whoever is invited already, whichever way they are asked for: an invitation must not flood a mailbox. */
import type { CoreDeps } from "../../core-deps.ts";
import { countAttempt, type RateLimits } from "../../rate-limits/rate-limits.ts";
import type { User } from "../user.ts";

export interface ResendDeps extends CoreDeps {
  readonly rateLimits: Pick<RateLimits, "recovery-account">;
}

/** @throws RateLimited */
export const countResend = (deps: ResendDeps, { orgId, id }: Pick<User, "orgId" | "id">): Promise<void> =>
  countAttempt(deps, orgId, [{ limit: deps.rateLimits["recovery-account"], subject: `invitation|${id}` }]);
