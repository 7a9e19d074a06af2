/** The view of a member's page, shared by its parts. */
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import type { FactorSummary } from "../../../core/second-factors/second-factor.ts";
import type { InvitationStatus } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import type { ConsoleFrame, ConsoleView } from "../../../html/components/console-layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";

type Named = { name: string; uri: string };

export type UserView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    member: User;
    isYou: boolean;
    /** Of a guest. */
    home: { name: string } | undefined;
    lastSignIn: number | undefined;
    /** The next three are undefined for a guest. */
    passwordChangedAt?: number | null;
    factors?: FactorSummary;
    invitation?: InvitationStatus | undefined;
    canMail: boolean;
    sessions: readonly {
      id: string;
      /** Undefined for an unknown browser. */
      browser: string | undefined;
      address: string;
      since: number;
      seen: number;
    }[];
    consents: readonly { id: string; application: Named; scopes: readonly string[]; grantedAt: number }[];
    assigned: readonly Named[];
    /** @param rest below the member's own address */
    uriOf(rest: string): string;
    /** Newest first. */
    activity: readonly Pick<StoredEvent, "id" | "action" | "at" | "address">[];
    audit: { byThem: string; toThem: string };
    lastChange: { who: string; at: number } | undefined;
    done: keyof Messages["console"]["users"]["done"] | undefined;
  };
