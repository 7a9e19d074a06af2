/** A sample of each mail. Its link leads to a page that everyone can open. */
import type { Mail, MailTemplate } from "../../../core/mail/mail.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";

const HOUR_MS = 3_600_000;
/** As the organisation's users get it. */
const isVerified = true as const;

export function sampleMail(
  template: MailTemplate,
  { baseUrl, orgId, now, ...mark }: { baseUrl: string; orgId: string; now: number; isTest?: true },
): Mail {
  const linked = {
    link: `${issuerOf(baseUrl, orgId)}/recovery`,
    expiresAt: now + HOUR_MS,
    isVerified,
    ...mark,
  };
  // An address for documentation (RFC 5737).
  const seen = { at: now, address: "192.0.2.7", browser: "Firefox, Windows", isVerified, ...mark };
  switch (template) {
    case "AcceptInvitation":
    case "AcceptRoaming":
      return { template, data: { ...linked, inviter: "admin@example.com" } };
    case "ChangeEmail":
      return { template, data: { ...linked, account: "grace@example.com" } };
    case "ApprovalRequested":
    case "MagicLink":
    case "SignUp":
    case "SignInAtOrganisation":
    case "ResetPassword":
    case "VerifyEmail":
      return { template, data: linked };
    case "EmailCode":
      return { template, data: { code: "123456", expiresAt: now + HOUR_MS, isVerified, ...mark } };
    case "FactorAdded":
    case "FactorRemoved":
      return { template, data: { ...seen, factor: "passkey" } };
    case "ConnectionKeysChanged":
      return { template, data: { ...seen, recordUri: `${baseUrl}/oauth/manage/${orgId}/connections` } };
    case "SignUpApproved":
      return { template, data: { ...seen, recordUri: `${issuerOf(baseUrl, orgId)}/account` } };
    case "SignUpsWaiting":
      return { template, data: { ...seen, recordUri: `${baseUrl}/oauth/manage/${orgId}/users` } };
    case "FactorResetRequested":
    case "BreakGlassUsed": {
      const recordUri = `${baseUrl}/oauth/manage/${orgId}/users`;
      return { template, data: { ...seen, account: "user@example.com", recordUri } };
    }
    default:
      return { template, data: seen };
  }
}
