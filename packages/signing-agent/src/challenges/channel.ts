/**
 * The agent's own way to the user, which does not lead through the service: a service that lies about who signs in can
 * neither read what goes this way nor answer on it (sovereign-signing.md §5 and §6).
 */

export interface Question {
  readonly challengeId: string;
  readonly requestId: string;
  readonly type: "number_match" | "pin";
  /** As they stand in the token. */
  readonly clientId: string;
  readonly sub: string;
  readonly scopes: readonly string[];
  readonly grant: string;
  /** What the service says of the client and of the browser: for showing, not for deciding. */
  readonly clientName: string | undefined;
  readonly ip: string | undefined;
  readonly expiresInSeconds: number;
  /** pin: what the user is to be told and to type on the wait page. Of a number nothing is told: the user types it. */
  readonly code?: string;
}

export type Reply =
  /** number_match: what the user typed. */
  | { readonly outcome: "answered"; readonly answer: string }
  /** pin: the user has the code. */
  | { readonly outcome: "delivered" }
  | { readonly outcome: "denied" };

export interface Channel {
  /** Rejects when the channel does not work, and when the signal aborts. */
  ask(question: Question, signal: AbortSignal): Promise<Reply>;
}
