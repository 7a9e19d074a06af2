/**
 * The schema for Kysely. Times are milliseconds since the epoch, booleans 0/1, JSON and hashes text, so that
 * statements run on SQLite and PostgreSQL. Every key starts with the organisation (architecture.md, rule 10).
 */
import type { ApplicationsSchema } from "./tables/applications.ts";
import type { ConnectionsSchema } from "./tables/connections.ts";
import type { ConsentsSchema } from "./tables/consents.ts";
import type { DeviceIdentitySchema } from "./tables/device-identity.ts";
import type { DomainsSchema } from "./tables/domains.ts";
import type { EventsSchema } from "./tables/events.ts";
import type { GroupsSchema } from "./tables/groups.ts";
import type { GuardsSchema } from "./tables/guards.ts";
import type { LedgerSchema } from "./tables/ledger.ts";
import type { MessagesSchema } from "./tables/messages.ts";
import type { OrganisationsSchema } from "./tables/organisations.ts";
import type { SecondFactorsSchema } from "./tables/second-factors.ts";
import type { SessionKeysSchema } from "./tables/session-keys.ts";
import type { SovereignSigningSchema } from "./tables/sovereign-signing.ts";
import type { SystemAccountsSchema } from "./tables/system-accounts.ts";
import type { TokensSchema } from "./tables/tokens.ts";
import type { TrustsSchema } from "./tables/trusts.ts";
import type { UsersSchema } from "./tables/users.ts";

export interface Schema
  extends ApplicationsSchema,
    ConnectionsSchema,
    DomainsSchema,
    ConsentsSchema,
    DeviceIdentitySchema,
    EventsSchema,
    GroupsSchema,
    GuardsSchema,
    LedgerSchema,
    MessagesSchema,
    OrganisationsSchema,
    SecondFactorsSchema,
    SessionKeysSchema,
    SovereignSigningSchema,
    SystemAccountsSchema,
    TokensSchema,
    TrustsSchema,
    UsersSchema {}
