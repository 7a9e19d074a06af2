/** The browser that comes back is the one that was sent there, and comes back once. */
import { sha256Base64url } from "@signet/protocol/hash";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import {
  findStart,
  type SignInStart,
  takeStart,
} from "../../../core/connections/sign-in/sign-in-starts.store.ts";
import type { Visit } from "../authorize/browser.ts";
import type { ConnectionDeps } from "./connection-visit.ts";

/** @throws ConnectionSignInFailure unless this browser was sent there, to this provider, and has not come back yet */
export async function takeOwnStart(
  deps: ConnectionDeps,
  { organisation, request }: Visit,
  connection: SignInConnection,
  state: string,
): Promise<SignInStart> {
  const now = deps.clock();
  const key = startKey(connection, state);
  const browser = deps.cookies.read(request, organisation.id);
  const browserHash = browser === undefined ? "" : sha256Base64url(browser);
  const started = await takeStart(deps.database.query, key, { browserHash, now });
  if (started) return started;
  const isAnothers = (await findStart(deps.database.query, key, now)) !== undefined;
  throw new ConnectionSignInFailure(isAnothers ? "other-browser" : "state-unknown");
}

export const startKey = ({ orgId, id: connectionId }: SignInConnection, state: string) => ({
  ...{ orgId, connectionId },
  stateHash: sha256Base64url(state),
});
