/** The provider and hooks. Without JSX, so that no compiler is needed for this package. */
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useSyncExternalStore,
} from "react";
import { createSignetClient, type SignetClient } from "./client.ts";
import type { SignetClientOptions, SignetState } from "./client-context.ts";
import { SignetClientError } from "./errors.ts";
import type { SignetUser } from "./session.ts";

const ClientContext = createContext<SignetClient | undefined>(undefined);

/** Properties of `SignetProvider`: `issuer` and `clientId`, and the others of a client. */
export interface SignetProviderProps extends SignetClientOptions {
  readonly children?: ReactNode;
  /** Instead of one that is made of the other properties, e.g. shared with code outside React. */
  readonly client?: SignetClient;
}

/**
 * Signs people in for everything inside it.
 * @example
 * createRoot(element).render(
 *   <SignetProvider issuer="https://id.example.com/oauth/…" clientId="…"><App /></SignetProvider>,
 * );
 */
export function SignetProvider({ children, client: given, ...options }: SignetProviderProps): ReactNode {
  const { issuer, clientId, redirectUri, postLogoutRedirectUri, scope, resource } = options;
  // By value: the object is another one at each rendering.
  const identity = JSON.stringify([issuer, clientId, redirectUri, postLogoutRedirectUri, scope, resource]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the identity stands for the options
  const client = useMemo(() => given ?? createSignetClient(options), [given, identity]);
  useEffect(() => client.start(), [client]);
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client of the provider. @throws SignetClientError `configuration` outside of one */
export function useSignetClient(): SignetClient {
  const client = useContext(ClientContext);
  if (!client)
    throw new SignetClientError("configuration", "There is no SignetProvider around this component.");
  return client;
}

const loading: SignetState = { status: "loading" };

/** The state and what can be done: `status`, `user`, `signIn`, `signOut`, `fetch`. */
export function useSignet(): SignetState &
  Pick<SignetClient, "signIn" | "signOut" | "getAccessToken" | "renew" | "fetch"> {
  const client = useSignetClient();
  const state = useSyncExternalStore(client.subscribe, client.state, () => loading);
  const { signIn, signOut, getAccessToken, renew, fetch } = client;
  return { ...state, signIn, signOut, getAccessToken, renew, fetch };
}

/** The signed-in user; undefined while loading, and for nobody. */
export const useUser = (): SignetUser | undefined => useSignet().user;

/** The current access token, another one after each renewal; undefined for nobody. APIs are called with `useSignet().fetch`. */
export function useAccessToken(): string | undefined {
  const state = useSignet();
  return state.status === "signed-in" ? state.accessToken : undefined;
}

/** Shows its children to people who are signed in. */
export function SignedIn({ children }: { readonly children?: ReactNode }): ReactNode {
  return useSignet().status === "signed-in" ? children : null;
}

/** Shows its children to people who are not signed in. */
export function SignedOut({ children }: { readonly children?: ReactNode }): ReactNode {
  return useSignet().status === "signed-out" ? children : null;
}
