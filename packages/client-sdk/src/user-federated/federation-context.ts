/** What every step of the filter UserFederated works with. Nothing is fetched, and no key derived, before the first request. */
import type { Settings } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { LegacyCalls } from "../legacy-api/legacy-calls.ts";
import { createSignInContext, type SignInContext, type SignInOptions } from "../sign-in/sign-in-context.ts";
import { createSingleFlight, type SingleFlight } from "../sign-in/single-flight.ts";
import { serviceCalls } from "../system-account/service-calls.ts";
import { type TypedCalls, typedCalls } from "../system-account/typed-calls.ts";
import type { LegacySession } from "./legacy-session.ts";

/** What `userFederated` takes beside its configuration. */
export interface UserFederatedOptions extends SignInOptions {
  /** `login` asks everybody for the password, also those who are signed in to another application. */
  readonly prompt?: "login" | "select_account";
}

export interface FederationContext extends SignInContext {
  readonly federationServer: string;
  readonly applicationId: string;
  readonly prompt: UserFederatedOptions["prompt"];
  readonly revalidateAfterMs: number;
  readonly calls: TypedCalls<LegacyCalls>;
  /** Keys that are being looked at, or were just now. */
  readonly checks: SingleFlight<LegacySession>;
}

const MOST_CHECKS = 10_000;
/** Somebody waits for a page. */
const patience = { attempts: 2, longestWaitMs: 1_000 };

/** @throws SignetError `configuration` */
export function createFederationContext(
  settings: Settings,
  options: UserFederatedOptions,
): FederationContext {
  const { federationServer, applicationId, systemAccount, environment, revalidateAfterSeconds } = settings;
  if (federationServer === undefined || applicationId === undefined)
    throw new SignetError("configuration", "UserFederated needs federationServer and applicationId.");
  const party = `${federationServer} ${applicationId}`;
  const signIn = createSignInContext(settings, options, { party, purpose: "legacy-session" });
  const { clock } = signIn;
  const revalidateAfterMs = revalidateAfterSeconds * 1000;
  const service = { federationServer, environment, systemAccount };
  return {
    ...signIn,
    ...{ federationServer, applicationId, revalidateAfterMs, prompt: options.prompt },
    calls: typedCalls<LegacyCalls>(serviceCalls(service, options, patience)),
    checks: createSingleFlight<LegacySession>({ clock, keepMs: () => revalidateAfterMs, most: MOST_CHECKS }),
  };
}
