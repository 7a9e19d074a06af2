/** Everything that is sealed under the master keys. A feature that seals another column adds its declaration here. */
import { sealedActions } from "../core/actions/actions.ts";
import { sealedInstallationKey } from "../core/audit/chain/chain-key.ts";
import { sealedConnectionSecrets } from "../core/connections/sign-in/client-secret.ts";
import { sealedTestResults } from "../core/connections/sign-in/connection-tests.ts";
import { sealedSamlReturns } from "../core/connections/sign-in/saml-returns.store.ts";
import { sealedIdTokens } from "../core/connections/sign-in/upstream-sign-ins.ts";
import { sealedCaKeys } from "../core/device-ca/ca-key.ts";
import { shardedEncryption } from "../core/encryption/encryption.ts";
import type { KeyRing } from "../core/encryption/key-ring.ts";
import type { SealedColumns } from "../core/encryption/sealed-columns.ts";
import { sealedStreamAuthorizations } from "../core/event-streams/authorization-header.ts";
import { sealedLogKeys } from "../core/ledger/log-key.ts";
import { sealedMails } from "../core/mail/outbox.ts";
import { sealedTotpSecrets } from "../core/second-factors/totp/totp.ts";
import { sealedSigningKeys } from "../core/signing-keys/signing-keys.ts";
import { sealedAccountSecrets } from "../core/system-accounts/system-accounts.ts";
import { sealedWebhookSecrets } from "../core/webhooks/webhook-secret.ts";
import { sealedRequests } from "../features/sovereign/requests/signing-request.ts";
import type { Service } from "./open-service.ts";

export const signingRequestEncryption = (masterKeys: KeyRing) =>
  // Separate keys: encrypting for every token would wear out the key for data at rest.
  shardedEncryption(masterKeys, "signing-request");

export const sealedColumns = ({
  encryption,
  masterKeys,
}: Pick<Service, "encryption" | "masterKeys">): readonly SealedColumns[] => [
  {
    encryption,
    columns: [
      sealedSigningKeys,
      sealedCaKeys,
      sealedAccountSecrets,
      sealedTotpSecrets,
      sealedInstallationKey,
      sealedActions,
      sealedMails,
      sealedLogKeys,
      sealedConnectionSecrets,
      sealedIdTokens,
      sealedSamlReturns,
      sealedTestResults,
      ...sealedWebhookSecrets,
      sealedStreamAuthorizations,
    ],
  },
  { encryption: signingRequestEncryption(masterKeys), columns: sealedRequests },
];
