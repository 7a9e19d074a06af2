/**
 * Sign-in for single-page applications in React: the code flow with PKCE, tokens bound to a key that can't leave the browser (DPoP),
 * renewal by one tab at a time, and sign-out across tabs.
 *
 * @module react
 */
export { createSignetClient, type SignetClient } from "./client.ts";
export type { SignetClientOptions, SignetState } from "./client-context.ts";
export { SignetClientError, type SignetClientErrorCode } from "./errors.ts";
export {
  SignedIn,
  SignedOut,
  SignetProvider,
  type SignetProviderProps,
  useAccessToken,
  useSignet,
  useSignetClient,
  useUser,
} from "./provider.ts";
export type { SignetUser } from "./session.ts";
export type { SignInOptions } from "./sign-in.ts";
