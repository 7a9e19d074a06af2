/**
 * Signing by the agents of a signing pool, as the grants and the browser flow see it (sovereign-signing.md §4).
 * features/sovereign implements it, so that its callers know nothing of queues and leases.
 */
import type { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Db } from "../../db/open.ts";
import type { Application } from "../applications/application.ts";
import type { MessageContext, MessageToSign, SignedMessage } from "./signed-message.ts";
import type { Signer, SigningContext, SigningRequestRef, TokensToSign } from "./signer.ts";

export interface PoolSigning extends Signer {
  /**
   * Queues a signing request that a browser waits for.
   * @throws OAuthError temporarily_unavailable when it cannot be queued
   */
  begin(tokens: TokensToSign, signingContext: BrowserSigningContext): Promise<SigningRequestRef>;
  /** The outcome as soon as it is settled, at the latest after `ms`. */
  waitFor(orgId: string, requestId: string, ms: number): Promise<SigningOutcome>;
  /** Lets the browser continue once, in the transaction that issues its code. @returns false when it has continued before */
  takeContinuation(db: Db, which: { readonly orgId: string; readonly requestId: string }): Promise<boolean>;
  /** Keeps signed tokens until their code expires; in the transaction that issues the code. */
  keepUntil(
    db: Db,
    which: { readonly orgId: string; readonly requestId: string; readonly until: number },
  ): Promise<void>;
  /**
   * What was signed beside the tokens of a browser, as long as it is not expired; undefined when nothing was, or the tokens are released.
   */
  signedResponse(which: { readonly orgId: string; readonly requestId: string }): Promise<string | undefined>;
  /**
   * Has a message that is no token signed, and hands it out.
   * @throws OAuthError temporarily_unavailable when no agent signs in time: nothing is consumed, and the same message may be asked for again
   */
  signMessage(message: MessageToSign, context: MessageContext): Promise<SignedMessage>;
  /** How long the token endpoint and requests with `prompt=none` wait for an agent. */
  waitMs(application: Application): Promise<number>;
}

export interface BrowserSigningContext extends SigningContext {
  /** The session of the wait page; undefined with `prompt=none`, which shows no page. */
  readonly waiting?: { readonly sessionId: string; readonly continuation: Continuation };
  /** Signed together with the tokens. */
  readonly response?: MessageToSign;
}

/** Where the browser continues after the wait; stored sealed with the request. */
export type Continuation =
  /** With this sealed authorization request: everything is decided, only the code is not issued. */
  | {
      readonly kind: "authorization";
      readonly flow: string;
      readonly familyId: string;
      readonly claimsHash: string;
      /** Absent in continuations of older versions. */
      readonly requestSigned?: boolean | null;
    }
  /** The client polls by itself; the browser only shows the result. */
  | { readonly kind: "device" | "polled"; readonly applicationId: string };

/** An error goes to the application, by the browser or at the token endpoint. */
export type SigningOutcome = "waiting" | "signed" | OAuthError;
