/** Where a guess comes from: what it counts for besides its account. */
import { networkPrefix } from "./rate-limits.ts";

export interface GuessSource {
  /** For the audit log. */
  readonly address: string;
  /** The end user's network; undefined when a backend calls and doesn't tell the user's address: its own says nothing. */
  readonly network: string | undefined;
  /** Set for calls of an application's backend. */
  readonly applicationId?: string;
}

/** A browser, or any client that calls for itself. */
export const directSource = (address: string): GuessSource => ({ address, network: networkPrefix(address) });

/** An application's backend that calls for a user. @param endUserAddress that the backend passes, and may pass */
export const backendSource = (call: {
  readonly address: string;
  readonly endUserAddress: string | undefined;
  readonly applicationId: string;
}): GuessSource => ({
  address: call.endUserAddress ?? call.address,
  network: call.endUserAddress === undefined ? undefined : networkPrefix(call.endUserAddress),
  applicationId: call.applicationId,
});

/** The user's network as far as it is known, else the application. */
export const sourceSubject = ({ network, applicationId }: GuessSource): string =>
  network ?? `application:${applicationId}`;
