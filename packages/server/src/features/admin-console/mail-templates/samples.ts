/** A sample of each mail. Its link leads to a page that everyone can open. */
import type { Mail, MailTemplate } from "../../../core/mail/mail.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";

export interface SampleOf {
  readonly baseUrl: string;
  readonly orgId: string;
  readonly now: number;
  readonly isTest?: true;
}

const HOUR_MS = 3_600_000;

export function sampleMail(template: MailTemplate, { baseUrl, orgId, now, isTest }: SampleOf): Mail {
  const tried = isTest ? ({ isTest } as const) : {};
  const linked = { link: `${issuerOf(baseUrl, orgId)}/recovery`, expiresAt: now + HOUR_MS, ...tried };
  // An address for documentation (RFC 5737).
  const seen = { at: now, address: "192.0.2.7", browser: "Firefox, Windows", ...tried };
  switch (template) {
    case "AcceptInvitation":
    case "AcceptRoaming":
    case "ChangeEmail":
    case "ResetPassword":
    case "VerifyEmail":
      return { template, data: linked };
    case "FactorAdded":
    case "FactorRemoved":
      return { template, data: { ...seen, factor: "passkey" } };
    default:
      return { template, data: seen };
  }
}
