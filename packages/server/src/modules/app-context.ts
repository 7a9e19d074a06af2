/** What every module of the app is given, the wiring of the browser flow, and the options of the app itself. */
import type { FastifyInstance } from "fastify";
import { createEncryption } from "../core/encryption/encryption.ts";
import { deriveKeys } from "../core/encryption/key-ring.ts";
import { macs } from "../core/encryption/macs.ts";
import { passkeyChallenges } from "../core/second-factors/passkeys/challenge.ts";
import { createRelyingParty } from "../core/second-factors/passkeys/passkeys.ts";
import type { BrowserDeps } from "../features/oauth/authorize/browser.ts";
import { flows } from "../features/oauth/authorize/flow.ts";
import type { AdmissionLimits } from "../http/admission/admission-limits.ts";
import type { Operation } from "../http/api/api-route.ts";
import type { DirectCalls } from "../http/calls/direct-calls.ts";
import {
  postponedPasskeyCookies,
  recognitionCookies,
  sessionCookies,
  sessionProofCookies,
  trustedBrowserCookies,
} from "../http/cookies/browser-cookies.ts";
import { csrf } from "../http/csrf.ts";
import type { ErrorHandlerDeps, Refusal } from "../http/error-handlers.ts";
import type { ConnectionBounds, CutConnections } from "../http/listeners/connection-bounds.ts";
import type { PublishedDocuments } from "../http/published-documents.ts";
import type { RequestLine } from "../http/request-log.ts";
import type { Service } from "./open-service.ts";
import type { Sovereign } from "./open-sovereign.ts";

export interface AppOptions {
  readonly nodeName: string;
  logRequest(line: RequestLine): void;
  /** How many published documents (discovery, JWKS) were served since the last call. */
  logDocuments(served: number): void;
  /** A rejected request, with the private cause that the response doesn't reveal. */
  logRefusal(refusal: Refusal): void;
  logError(error: unknown, requestId: string, status: number): void;
  /** Connections that were refused or cut (connection-bounds.ts). */
  logCutConnections?(cut: CutConnections): void;
  /** For tests. */
  readonly connectionBounds?: ConnectionBounds | undefined;
  readonly admission?: AdmissionLimits | undefined;
  isDraining(): boolean;
  /** For tests: no request is answered before the framework's router. */
  readonly isFrameworkAlone?: boolean;
  /** Called for every route as it is registered. */
  onRoute?(route: { method: string; path: string }): void;
  /** Set in demo mode only: what the landing page and the try-it flow show. */
  readonly demo?: {
    readonly organisationIds: readonly string[];
    readonly orgId: string;
    readonly clientId: string;
    readonly credentialsFile: string;
  };
}

export interface AppContext {
  readonly service: Service;
  readonly options: AppOptions;
  readonly errors: ErrorHandlerDeps;
  readonly documents: PublishedDocuments;
  readonly calls: DirectCalls;
  readonly sovereign: Sovereign;
  readonly browser: BrowserDeps;
  /** The JSON operations registered so far, for /openapi.json. */
  readonly operations: Operation[];
}

/** Registers one part of the service in a scope of its own. */
export type Module = (scope: FastifyInstance, app: AppContext) => void | Promise<void>;

export function browserDeps(
  service: Service,
  { poolSigning }: Sovereign,
  errors: ErrorHandlerDeps,
): BrowserDeps {
  const { config, masterKeys } = service;
  const { baseUrl, rateLimits } = config;
  return {
    ...service,
    baseUrl,
    rateLimits,
    poolSigning,
    logBusy: (error, requestId) => errors.log(error, requestId, 503),
    cookies: sessionCookies(baseUrl),
    proofCookies: sessionProofCookies(baseUrl),
    recognition: recognitionCookies(baseUrl),
    postponedPasskeys: postponedPasskeyCookies(baseUrl),
    csrf: csrf(macs(deriveKeys(masterKeys, "csrf")), baseUrl),
    flows: flows(macs(deriveKeys(masterKeys, "authorize-flow"))),
    secondFactors: {
      // A key of their own: as many as there are sign-ins would wear out the one for data at rest.
      seals: createEncryption(deriveKeys(masterKeys, "browser-state")),
      challenges: passkeyChallenges(deriveKeys(masterKeys, "passkey-challenge")),
      relyingParty: createRelyingParty(baseUrl),
      trustedBrowsers: trustedBrowserCookies(baseUrl),
    },
  };
}
