/** The wiring of the browser flow: cookies, seals and keys of its own. */
import { createEncryption, deriveKey } from "../core/encryption/encryption.ts";
import { passkeyChallenges } from "../core/second-factors/passkeys/challenge.ts";
import { createRelyingParty } from "../core/second-factors/passkeys/passkeys.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { flows } from "../features/oauth/authorize/flow.ts";
import { recognitionCookies } from "../http/cookies/recognition-cookie.ts";
import { sessionCookies } from "../http/cookies/session-cookie.ts";
import { trustedBrowserCookies } from "../http/cookies/trusted-browser-cookie.ts";
import { csrf } from "../http/csrf.ts";
import type { Service } from "./open-service.ts";
import type { Sovereign } from "./open-sovereign.ts";

/** What every page of the browser flow needs. */
export function browserDeps(service: Service, { poolSigning }: Sovereign): BrowserDeps {
  const { config, masterKey } = service;
  const { baseUrl, rateLimits } = config;
  return {
    ...service,
    baseUrl,
    rateLimits,
    poolSigning,
    cookies: sessionCookies(baseUrl),
    recognition: recognitionCookies(baseUrl),
    csrf: csrf(deriveKey(masterKey, "csrf"), baseUrl),
    flows: flows(deriveKey(masterKey, "authorize-flow")),
    secondFactors: {
      // A key of their own: as many as there are sign-ins would wear out the one for data at rest.
      seals: createEncryption(deriveKey(masterKey, "browser-state")),
      challenges: passkeyChallenges(deriveKey(masterKey, "passkey-challenge")),
      relyingParty: createRelyingParty(baseUrl),
      trustedBrowsers: trustedBrowserCookies(baseUrl),
    },
  };
}
