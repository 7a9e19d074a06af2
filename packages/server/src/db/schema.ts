/**
 * The schema for Kysely. Times are milliseconds since the epoch, booleans 0/1, JSON and hashes text, so that
 * statements run on SQLite and PostgreSQL. Every key starts with the organisation (architecture.md, rule 10).
 */
import type {
  ApplicationExternalKeyTable,
  ApplicationOriginTable,
  ApplicationTable,
  ClientSecretTable,
} from "./tables/applications.ts";
import type { ConsentTable, CustomScopeTable, PreauthorizationTable } from "./tables/consents.ts";
import type {
  DeviceAllowedEkTable,
  DeviceCaTable,
  DeviceCertificateTable,
  DeviceChallengeTable,
  DeviceCrlTable,
  DeviceEnrollmentCodeTable,
  DeviceKeyTable,
  DeviceRootTable,
  DeviceTable,
} from "./tables/device-identity.ts";
import type { BackgroundLeaseTable, ConsumedValueTable, RateLimitTable } from "./tables/guards.ts";
import type { LogoutDeliveryTable, OutgoingMailTable, UserActionTable } from "./tables/messages.ts";
import type {
  ActivityTable,
  AuditChainTable,
  AuditEventTable,
  OrganisationTable,
} from "./tables/organisations.ts";
import type {
  PasskeyTable,
  RecoveryCodeTable,
  RememberedDeviceTable,
  TotpCredentialTable,
} from "./tables/second-factors.ts";
import type {
  ApplicationUserSettingTable,
  ApplicationUserTable,
  SessionKeyTable,
} from "./tables/session-keys.ts";
import type {
  AgentKeyTable,
  CompromisedAgentKeyTable,
  SigningAgentTable,
  SigningPoolTable,
  SigningRequestTable,
} from "./tables/sovereign-signing.ts";
import type {
  IdempotencyKeyTable,
  SystemAccountKeyTable,
  SystemAccountPermissionTable,
  SystemAccountTable,
} from "./tables/system-accounts.ts";
import type {
  AuthorizationCodeTable,
  DeviceAuthorizationTable,
  RevokedAccessTokenTable,
  SigningKeyTable,
  TokenFamilyTable,
} from "./tables/tokens.ts";
import type {
  BrowserSessionTable,
  KnownBrowserTable,
  MembershipTable,
  SessionApplicationTable,
  UserAccountTable,
} from "./tables/users.ts";

export interface Schema {
  organisation: OrganisationTable;
  application: ApplicationTable;
  application_origin: ApplicationOriginTable;
  application_external_key: ApplicationExternalKeyTable;
  client_secret: ClientSecretTable;
  user_account: UserAccountTable;
  membership: MembershipTable;
  browser_session: BrowserSessionTable;
  authorization_code: AuthorizationCodeTable;
  token_family: TokenFamilyTable;
  revoked_access_token: RevokedAccessTokenTable;
  signing_key: SigningKeyTable;
  consent: ConsentTable;
  rate_limit: RateLimitTable;
  audit_event: AuditEventTable;
  audit_chain: AuditChainTable;
  activity: ActivityTable;
  background_lease: BackgroundLeaseTable;
  device_authorization: DeviceAuthorizationTable;
  custom_scope: CustomScopeTable;
  preauthorization: PreauthorizationTable;
  totp_credential: TotpCredentialTable;
  passkey: PasskeyTable;
  recovery_code: RecoveryCodeTable;
  remembered_device: RememberedDeviceTable;
  consumed_value: ConsumedValueTable;
  logout_delivery: LogoutDeliveryTable;
  session_application: SessionApplicationTable;
  user_action: UserActionTable;
  outgoing_mail: OutgoingMailTable;
  known_browser: KnownBrowserTable;
  system_account: SystemAccountTable;
  system_account_key: SystemAccountKeyTable;
  system_account_permission: SystemAccountPermissionTable;
  idempotency_key: IdempotencyKeyTable;
  session_key: SessionKeyTable;
  application_user: ApplicationUserTable;
  application_user_setting: ApplicationUserSettingTable;
  signing_pool: SigningPoolTable;
  signing_agent: SigningAgentTable;
  agent_key: AgentKeyTable;
  compromised_agent_key: CompromisedAgentKeyTable;
  signing_request: SigningRequestTable;
  device_ca: DeviceCaTable;
  device_crl: DeviceCrlTable;
  device_enrollment_code: DeviceEnrollmentCodeTable;
  device: DeviceTable;
  device_certificate: DeviceCertificateTable;
  device_key: DeviceKeyTable;
  device_challenge: DeviceChallengeTable;
  device_root: DeviceRootTable;
  device_allowed_ek: DeviceAllowedEkTable;
}
