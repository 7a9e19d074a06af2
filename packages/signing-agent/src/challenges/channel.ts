/**
 * The organisation's own channel to the user, which bypasses the service: a service that lies about who signs in can neither
 * read what goes through it nor answer in the user's place (sovereign-signing.md §5 and §6).
 */
export interface Question {
  readonly challengeId: string;
  readonly requestId: string;
  readonly type: "number_match" | "pin";
  /** As in the token. */
  readonly clientId: string;
  readonly sub: string;
  readonly scopes: readonly string[];
  readonly grant: string;
  /** Claimed by the service: for display, never for decisions. */
  readonly clientName: string | undefined;
  readonly ip: string | undefined;
  readonly expiresInSeconds: number;
  /** For `pin`: what the user types on the wait page. For `number_match` the user types what the page shows. */
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
