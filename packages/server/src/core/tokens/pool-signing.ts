/**
 * What the grants and the browser flow need of an application whose tokens the organisation's own agents sign
 * (sovereign-signing.md §4). Declared here and made in features/sovereign, so that neither knows of queues and leases.
 */
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { BegunSigning, Signer, SigningOccasion, TokensToSign } from "./signer.ts";

export interface PoolSigning extends Signer {
  /** The `iss` of the application's tokens and answers: its pool's, or the organisation's. */
  issuer(organisation: Organisation, application: Application): Promise<string>;
  /**
   * Begins a request that a browser waits for, or with `prompt=none` its request alone.
   * @throws OAuthError temporarily_unavailable when nothing can be queued
   */
  begin(tokens: TokensToSign, occasion: BrowserOccasion): Promise<BegunSigning>;
  /** What has become of it, as soon as it is settled and at the latest after `ms`. */
  waitFor(orgId: string, requestId: string, ms: number): Promise<SigningOutcome>;
  /** A browser goes on from its wait once, in the transaction that issues its code. @returns false when it has before */
  takeContinuation(db: Db, which: { readonly orgId: string; readonly requestId: string }): Promise<boolean>;
  /** Signed tokens stay until the code expires that stands for them; in the transaction that issues it. */
  keepUntil(
    db: Db,
    kept: { readonly orgId: string; readonly requestId: string; readonly until: number },
  ): Promise<void>;
  /** How long the token endpoint, and a request with `prompt=none`, waits for an agent of the application. */
  waitMs(application: Application): Promise<number>;
}

export interface BrowserOccasion extends SigningOccasion {
  /** Who waits: the session that the wait page asks for; undefined with `prompt=none`, which never sees a page. */
  readonly waiting?: { readonly sessionId: string; readonly continuation: Continuation };
}

/** Where the browser goes when its wait is over; kept sealed beside the request. */
export type Continuation =
  /** On with this sealed authorization request, for which everything is decided but the code is not issued. */
  | {
      readonly kind: "authorization";
      readonly flow: string;
      readonly familyId: string;
      readonly claimsHash: string;
    }
  /** The device asks again by itself: the person is told how it ended. */
  | { readonly kind: "device"; readonly applicationId: string };

/** An error that the application hears, in the browser or at the token endpoint. */
export type SigningOutcome = "waiting" | "signed" | OAuthError;
