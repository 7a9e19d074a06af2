/** Where the pages of domains are, and what they need. */
import { listConnections } from "../../../core/connections/connections.store.ts";
import {
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import { type Domain, InvalidDomain } from "../../../core/domains/domain.ts";
import type { ProofDeps } from "../../../core/domains/domain-proof.ts";
import { findDomain } from "../../../core/domains/domains.store.ts";
import { badge } from "../../../html/components/badge.ts";
import type { Choice } from "../../../html/components/fields.ts";
import type { Html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { type RecordView, recordPages } from "../../../page-kit/record-pages.ts";

export type DomainsDeps = ConsoleDeps & Pick<ProofDeps, "lookUpTxt">;

export const DOMAINS = "/domains";

export const domainPages = recordPages<Domain>(
  "domains",
  DOMAINS,
  (db, orgId, id) => findDomain(db, { orgId, id }),
  ({ domain }) => domain,
);

export type DomainView = RecordView<Domain> & {
  /** Where its users sign in. */
  readonly connection: SignInConnection | undefined;
};

const kinds = { pending: "warn", proven: "good", lapsed: "bad" } as const;

export const domainStatus = ({ state }: Domain, { console: { domains } }: Messages): Html =>
  badge(kinds[state], domains.states[state]);

/** Those that a domain can lead to. */
export async function providersOf(
  { database }: Pick<ConsoleDeps, "database">,
  orgId: string,
): Promise<SignInConnection[]> {
  return (await listConnections(database.query, orgId)).filter(isSignInConnection);
}

export const providerChoices = (
  providers: readonly SignInConnection[],
  { console: { domains } }: Messages,
): Choice[] => [
  { value: "", label: domains.noConnection },
  ...providers.map(({ id, name }) => ({ value: id, label: name })),
];

/** By the field of a form. @throws what is not about what was typed */
export function domainFaults(
  error: unknown,
  { console: { domains } }: Messages,
): Readonly<Record<string, string>> {
  if (!(error instanceof InvalidDomain)) throw error;
  const { faults } = domains;
  if (error.code === "unknown-connection" || error.code === "no-sign-in")
    return { connectionId: faults.connection };
  if (error.code === "not-proven" || error.code === "not-routed" || error.code === "no-break-glass")
    return { enforced: faults[error.code] };
  return { domain: faults[error.code] };
}
